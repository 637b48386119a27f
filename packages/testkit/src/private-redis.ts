import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Defer, withTest } from './defer.ts'
import { temporaryFolder } from './folder.ts'
import { freePort } from './ports.ts'
import { Process } from './process.ts'

/** Starts a private Redis that writes each command to its log; a test can kill, wipe and restart it. */
export async function startPrivateRedis(defer: Defer = withTest) {
  const folder = temporaryFolder('redis', defer)
  const port = await freePort()
  const server = new Process({
    name: 'redis',
    command: 'redis-server',
    args: [
      ...['--bind', '127.0.0.1', '--port', String(port), '--dir', folder],
      ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec'],
    ],
    env: {},
    ready: /Ready to accept connections/,
  })
  await server.start()
  defer(() => server.end('SIGKILL'))
  return {
    url: `redis://127.0.0.1:${port}`,
    start: () => server.start(),
    kill: () => server.end('SIGKILL'),
    /** Deletes its data; only while it is not running. */
    wipe: () => rm(join(folder, 'appendonlydir'), { recursive: true, force: true }),
  }
}
