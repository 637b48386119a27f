import { spawnSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Defer, withTest } from './defer.ts'
import { temporaryFolder } from './folder.ts'
import { freePort } from './ports.ts'
import { Process } from './process.ts'

/** True if this machine has a NATS server program. */
export const hasNats = spawnSync('nats-server', ['--version']).status === 0

interface Traffic {
  in_msgs: number
  out_msgs: number
  in_bytes: number
  out_bytes: number
}

/** Starts a private NATS server that a test can kill, wipe and restart. */
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
    /** Parent folder of its store. */
    home: store,
    start: () => server.start(),
    kill: () => server.end('SIGKILL'),
    /** Deletes its store; only while it is not running. */
    wipe: () => rm(join(store, 'jetstream'), { recursive: true, force: true }),
    pid: () => server.pid,
    /** Returns the messages and bytes that the server has received and sent so far. */
    async traffic(): Promise<Traffic> {
      const answer = await fetch(`http://127.0.0.1:${monitor}/varz`)
      return (await answer.json()) as Traffic
    },
    /** Returns JetStream's report on streams and consumers, as JSON. */
    async report(): Promise<string> {
      const answer = await fetch(`http://127.0.0.1:${monitor}/jsz?consumers=true`)
      return answer.text()
    },
  }
}
