import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Infra } from './infra-handle.ts'

const SCRIPTS = new URL('../../../scripts/', import.meta.url)
const BOOTSTRAP = new URL('bootstrap.mjs', SCRIPTS).href
const INFRA = fileURLToPath(new URL('infra.ts', SCRIPTS))
const URLS = ['TEST_POSTGRES_URL', 'TEST_NATS_URL', 'TEST_REDIS_URL'] as const

/**
 * Starts PostgreSQL, NATS and Redis as local processes with a temporary data directory. They end when
 * the pipe to their supervisor closes, so even when this process is killed.
 */
export async function startLocal(): Promise<Infra> {
  const supervisor = spawn(
    process.execPath,
    ['--import', BOOTSTRAP, INFRA, 'serve', '--temporary'],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true, // Ctrl-C ends the tests, which then close the pipe.
    },
  )
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
  throw new Error('PostgreSQL, NATS and Redis did not start; see the output above')
}
