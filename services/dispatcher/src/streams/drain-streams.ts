import type { Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectedWorkers } from '../engine/connected-workers.ts'

/** Twelve seconds for a thousand workers or more: less than a tenth of the fleet reconnects in any second. */
const MAX_SPREAD_MS = 12_000
const SPREAD_PER_STREAM_MS = 12
const STEP_MS = 20
const FORCE_CLOSE_MS = 1_000

/**
 * Closes all streams, a few at a time, so that the reconnects to the other dispatchers are spread over
 * time. New streams are refused from the start; connections that stay open are closed by force.
 */
export async function drainStreams(server: Server, workers: ConnectedWorkers): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  const open = [...workers]
  const steps = Math.ceil(Math.min(MAX_SPREAD_MS, open.length * SPREAD_PER_STREAM_MS) / STEP_MS)
  const perStep = Math.ceil(open.length / Math.max(steps, 1))
  for (let at = 0; at < open.length; at += perStep) {
    for (const { stream } of open.slice(at, at + perStep)) stream.end('stopping')
    await pause(STEP_MS)
  }
  for (const { stream } of workers) stream.end('stopping')
  const idle = setInterval(() => server.closeIdleConnections(), STEP_MS)
  const forceCloseTimer = setTimeout(() => server.closeAllConnections(), FORCE_CLOSE_MS)
  await closed
  clearInterval(idle)
  clearTimeout(forceCloseTimer)
}
