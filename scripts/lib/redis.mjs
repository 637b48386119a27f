import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { secret } from './data-dir.mjs'
import { onFreePort } from './ports.mjs'
import { findProgram } from './programs.mjs'
import { answers } from './tcp.mjs'

const READY_LIMIT_MS = 20_000

/** Starts the private Redis of a data directory, which keeps nothing on disk; returns its URL. */
export async function startRedis(processes, dir) {
  const home = path.join(dir, 'redis')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const password = secret(dir, 'redis-password')
  return onFreePort(async (port) => {
    const file = path.join(home, 'redis.conf')
    writeFileSync(file, config({ port, password, home }), { mode: 0o600 })
    const child = processes.start({
      name: 'redis',
      command: findProgram('redis-server'),
      args: [file],
      cwd: home,
    })
    const ping = { say: `AUTH ${password}\r\nPING\r\n`, expect: /\+OK\r\n\+PONG/ }
    await processes.untilReady(child, () => answers(port, ping), READY_LIMIT_MS)
    return { child, url: `redis://:${password}@127.0.0.1:${port}` }
  })
}

function config({ port, password, home }) {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    'save ""',
    'appendonly no',
  ]
  return `${[...lines, `dir ${JSON.stringify(home)}`].join('\n')}\n`
}
