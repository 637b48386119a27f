import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { onFreePort } from '../process/ports.ts'
import { answers } from '../process/tcp.ts'
import { requireProgram } from '../setup/programs.ts'
import { secret } from '../setup/secrets.ts'
import { REDIS_SERVICES, redisUsers } from './redis-users.ts'
import { servicePassword } from './service-passwords.ts'
import type { StartStore } from './store.ts'

const READY_LIMIT_MS = 20_000

/** Starts the private Redis of a data directory, without persistence; returns its URL. */
export const startRedis: StartStore = async (processes, dir) => {
  const home = path.join(dir, 'redis')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const password = secret(dir, 'redis-password')
  return onFreePort(async (port) => {
    const file = path.join(home, 'redis.conf')
    writeFileSync(file, config({ port, password, home }), { mode: 0o600 })
    const child = processes.start({
      name: 'redis',
      command: requireProgram('redis-server'),
      args: [file],
      cwd: home,
    })
    const ping = { say: `AUTH ${password}\r\nPING\r\n`, expect: /\+OK\r\n\+PONG/ }
    await processes.untilReady(child, () => answers(port, ping), READY_LIMIT_MS)
    const url = (user: string, password: string) => `redis://${user}:${password}@127.0.0.1:${port}`
    return {
      child,
      url: url('', password),
      urlOf: (service) =>
        REDIS_SERVICES.includes(service)
          ? url(service, servicePassword(password, service))
          : undefined,
    }
  })
}

function config({ port, password, home }: { port: number; password: string; home: string }) {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    'save ""',
    'appendonly no',
    ...redisUsers((service) => servicePassword(password, service)),
  ]
  return `${[...lines, `dir ${JSON.stringify(home)}`].join('\n')}\n`
}
