import type { Server } from 'node:http'
import { endInTurn } from '@windlass/runtime/process/end-in-turn'
import type { ConnectedWorkers } from '../engine/connected-workers.ts'

/** Twelve seconds for a thousand workers or more: less than a tenth of the fleet moves in any second. */
const MAX_SPREAD_MS = 12_000
const IDLE_CHECK_MS = 20
const FORCE_CLOSE_MS = 1_000

/**
 * Closes all streams, a few at a time, so that their moves to the other dispatchers are spread over
 * time. New streams are refused from the start; connections that stay open are closed by force.
 */
export async function drainStreams(server: Server, workers: ConnectedWorkers): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  await endInTurn([...workers], ({ stream }) => stream.end('stopping'), MAX_SPREAD_MS)
  for (const { stream } of workers) stream.end('stopping')
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  const forceCloseTimer = setTimeout(() => server.closeAllConnections(), FORCE_CLOSE_MS)
  await closed
  clearInterval(idle)
  clearTimeout(forceCloseTimer)
}
