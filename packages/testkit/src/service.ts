import { loadSettings } from '@windlass/runtime/config'
import type { Start } from '@windlass/runtime/main'
import { Teardown } from '@windlass/runtime/teardown'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'

/**
 * Starts a service in this process, exactly as its main does, with settings given as environment
 * variables, and stops it when the test ends. Answers its ports, and `stop` for tests that end it earlier.
 */
export async function started(start: Start, env: Record<string, string>) {
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' })
  const teardown = new Teardown(log)
  const stop = () => teardown.run()
  onTestFinished(stop)
  const ports = await start(loadSettings({ SVC_CONFIG: '/dev/null', ...env }), { log, teardown })
  return { ports, stop }
}
