import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { secret } from './data-dir.mjs'
import { onFreePort } from './ports.mjs'
import { findProgram } from './programs.mjs'
import { answers } from './tcp.mjs'

const READY_LIMIT_MS = 20_000
const USER = 'windlass'

/** Starts the private NATS server with JetStream of a data directory; returns its URL. */
export async function startNats(processes, dir) {
  const home = path.join(dir, 'nats')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const password = secret(dir, 'nats-password')
  return onFreePort(async (port) => {
    const file = path.join(home, 'nats.conf')
    writeFileSync(file, config({ port, password, store: path.join(home, 'jetstream') }), {
      mode: 0o600,
    })
    const child = processes.start({
      name: 'nats',
      command: findProgram('nats-server'),
      args: ['-c', file],
      cwd: home,
    })
    await processes.untilReady(child, () => answers(port, { expect: /^INFO / }), READY_LIMIT_MS)
    return { child, url: `nats://${USER}:${password}@127.0.0.1:${port}` }
  })
}

// a file, because a command line can be read by every user of the machine
function config({ port, password, store }) {
  return [
    `listen: 127.0.0.1:${port}`,
    `authorization { user: ${USER}, password: "${password}" }`,
    `jetstream { store_dir: ${JSON.stringify(store)} }`,
    '',
  ].join('\n')
}
