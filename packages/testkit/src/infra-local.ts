import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Infra } from './infra-handle.ts'

const SCRIPT = fileURLToPath(new URL('../../../scripts/infra.mjs', import.meta.url))
const URLS = ['TEST_POSTGRES_URL', 'TEST_NATS_URL', 'TEST_REDIS_URL'] as const

/**
 * PostgreSQL, NATS and Redis as private processes with a throw-away data directory. They end with
 * the pipe to their supervisor, so also when this process is killed.
 */
export async function startLocal(): Promise<Infra> {
  const supervisor = spawn(process.execPath, [SCRIPT, 'serve', '--temporary'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // Ctrl-C is for the tests; they close the pipe when they are done
  })
  const exited = once(supervisor, 'exit')
  const urls: Record<string, string> = {}
  for await (const line of createInterface({ input: supervisor.stdout })) {
    const [, key, value] = /^export (\w+)=(.*)$/.exec(line) ?? []
    if (key !== undefined && value !== undefined) urls[key] = value
    if (URLS.every((name) => name in urls)) {
      return {
        urls: urls as Infra['urls'],
        async stop() {
          supervisor.stdin.end()
          await exited
        },
      }
    }
  }
  throw new Error('PostgreSQL, NATS and Redis could not be started; see above')
}
