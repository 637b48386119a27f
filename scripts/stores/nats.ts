import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { onFreePort } from '../process/ports.ts'
import { answers } from '../process/tcp.ts'
import { requireProgram } from '../setup/programs.ts'
import { secret } from '../setup/secrets.ts'
import { NATS_SERVICES, natsConfig } from './nats-config.ts'
import { servicePassword } from './service-passwords.ts'
import type { StartStore } from './store.ts'

const READY_LIMIT_MS = 20_000
const USER = 'windlass'

/** Starts the private NATS server of a data directory, with JetStream, for systems with these prefixes; returns its URL. */
export const startNats: StartStore<{ prefixes?: string[] }> = async (
  processes,
  dir,
  { prefixes } = {},
) => {
  const home = path.join(dir, 'nats')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const password = secret(dir, 'nats-password')
  return onFreePort(async (port) => {
    const file = path.join(home, 'nats.conf')
    const passwordOf = (service: string) => servicePassword(password, service)
    const store = path.join(home, 'jetstream')
    const all = { user: USER, password }
    // a file, because a command line can be read by every user of the machine
    writeFileSync(file, natsConfig({ port, store, all, passwordOf, prefixes }), { mode: 0o600 })
    const child = processes.start({
      name: 'nats',
      command: requireProgram('nats-server'),
      args: ['-c', file],
      cwd: home,
    })
    await processes.untilReady(child, () => answers(port, { expect: /^INFO / }), READY_LIMIT_MS)
    const url = (user: string, password: string) => `nats://${user}:${password}@127.0.0.1:${port}`
    return {
      child,
      url: url(USER, password),
      urlOf: (service) =>
        NATS_SERVICES.includes(service) ? url(service, passwordOf(service)) : undefined,
    }
  })
}
