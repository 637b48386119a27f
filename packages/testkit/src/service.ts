import { Readiness } from '@windlass/runtime/admin/readiness'
import { loadSettings } from '@windlass/runtime/config/load-settings'
import type { Start } from '@windlass/runtime/process/main'
import { Teardown } from '@windlass/runtime/process/teardown'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { TEST_RPC_SECRET } from './service-identity.ts'

const KEPT_LINES = 10_000

/**
 * Starts a service in this process, exactly as its main does, with settings given as environment
 * variables, and stops it when the test ends. Returns its ports, its readiness, `stop` to end it earlier, and
 * `logged`, the last log lines. TEST_LOG is the level from which they are printed as well.
 */
export async function startService(start: Start, env: Record<string, string>) {
  const lines: string[] = []
  const write = (line: string) => {
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
  }
  const printed = { level: process.env.TEST_LOG ?? 'silent', stream: process.stdout }
  const log = pino(
    { level: 'trace' },
    pino.multistream([{ level: 'trace', stream: { write } }, printed]),
  )
  const teardown = new Teardown(log)
  const stop = () => teardown.run()
  onTestFinished(stop)
  const readiness = new Readiness()
  const ports = await start(
    loadSettings({ SVC_CONFIG: '/dev/null', SVC_RPC__SECRET: TEST_RPC_SECRET, ...env }),
    { log, teardown, readiness },
  )
  return { ports, stop, readiness, logged: () => lines.join('') }
}
