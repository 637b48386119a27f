import { spawnSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Defer, withTest } from './defer.ts'
import { temporaryFolder } from './folder.ts'
import { freePort } from './ports.ts'
import { Process } from './process.ts'

/** Whether this machine has a NATS server to start, besides the one of the run. */
export const hasNats = spawnSync('nats-server', ['--version']).status === 0

/** A NATS server of one's own, to be killed, robbed of its store and started again. */
export async function startPrivateNats(defer: Defer = withTest) {
  const store = temporaryFolder('nats', defer)
  const [port, monitor] = [await freePort(), await freePort()]
  const server = new Process({
    name: 'nats',
    command: 'nats-server',
    args: [
      ...['-a', '127.0.0.1', '-p', String(port), '-m', String(monitor)],
      ...['-js', '-sd', join(store, 'jetstream')],
    ],
    env: {},
    ready: /Server is ready/,
  })
  await server.start()
  defer(() => server.end('SIGKILL'))
  return {
    url: `nats://127.0.0.1:${port}`,
    start: () => server.start(),
    kill: () => server.end('SIGKILL'),
    /** Takes its store, while it is not running. */
    wipe: () => rm(join(store, 'jetstream'), { recursive: true, force: true }),
    /** What JetStream says of its streams and their consumers, in JSON. */
    async report(): Promise<string> {
      const answer = await fetch(`http://127.0.0.1:${monitor}/jsz?consumers=true`)
      return answer.text()
    },
  }
}
