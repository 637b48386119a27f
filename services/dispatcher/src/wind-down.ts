import type { Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sessions } from './sessions.ts'

/** Of a thousand workers or more no second sees a tenth come back; a small fleet is let go at once. */
const MAX_SPREAD_MS = 12_000
const STREAM_MS = 12
const STEP_MS = 20
const MAX_LINGER_MS = 1_000

/**
 * Closes all streams, a few at a time, so that their workers do not come back to the other
 * dispatchers in one moment. New ones are refused from the start.
 */
export async function windDown(server: Server, sessions: Sessions): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  const open = [...sessions]
  const steps = Math.ceil(Math.min(MAX_SPREAD_MS, open.length * STREAM_MS) / STEP_MS)
  const perStep = Math.ceil(open.length / Math.max(steps, 1))
  for (let at = 0; at < open.length; at += perStep) {
    for (const { stream } of open.slice(at, at + perStep)) stream.end('stopping')
    await pause(STEP_MS)
  }
  for (const { stream } of sessions) stream.end('stopping')
  const idle = setInterval(() => server.closeIdleConnections(), STEP_MS)
  const impatience = setTimeout(() => server.closeAllConnections(), MAX_LINGER_MS)
  await closed
  clearInterval(idle)
  clearTimeout(impatience)
}
