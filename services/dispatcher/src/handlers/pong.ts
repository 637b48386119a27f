import type {
  PongRefusal,
  PongRequest,
  PongsResponse,
} from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { Fault, notFound } from '@windlass/runtime/faults'
import type { Bus } from '@windlass/runtime/nats/bus'
import { toOutageFault } from '@windlass/runtime/postgres/outage'
import { metricsJson } from '../domain/presence.ts'
import type { ConnectedWorkers } from '../engine/connected-workers.ts'
import type { HeartbeatBuffer } from '../engine/heartbeat-buffer.ts'
import { publishAndFlush } from '../engine/publish-signal.ts'
import type { SessionLookup } from '../engine/session-lookup.ts'

export interface PongDeps {
  bus: Bus
  sessionLookup: SessionLookup
  workers: ConnectedWorkers
  heartbeats: HeartbeatBuffer
  /** Starts a tick, so that a change of health is written at once. */
  onHealthChanged(): void
}

/**
 * Buffers a pong. A pong of a session that has ended is `unauthenticated`, so that its worker
 * registers again.
 */
export async function handlePong(
  { bus, sessionLookup, workers, heartbeats, onHealthChanged }: PongDeps,
  { name, session_id: claimed, healthy, metrics }: PongRequest,
): Promise<void> {
  const session_id = await sessionLookup.getSession(name, claimed)
  if (session_id === undefined) throw notFound('Worker', name)
  if (claimed !== '' && claimed !== session_id)
    throw new Fault('unauthenticated', 'This session of the worker has ended')
  const accepted = metrics && metricsJson(metrics.values)
  const now_ms = performance.now()
  // Invariant D7: the dispatcher that holds the stream must stop sending work before a reader can see
  // `unhealthy`. When the row was written first and signalled afterwards, about one pong in forty let work
  // through.
  if (!healthy && !workers.get(name))
    await publishAndFlush(bus, name, { $case: 'unwell', value: { session_id } })
  heartbeats.recordPong({ name, session_id, healthy, metrics: accepted }, now_ms)
  const worker = workers.get(name)
  if (worker ? worker.isHealthy === healthy : healthy) return
  worker?.setHealthFromHeartbeat(healthy)
  workers.bumpFleetVersion()
  onHealthChanged()
}

/** Handles the pongs of many workers; each may be refused independently. */
export async function handlePongs(
  service: PongDeps,
  pongs: readonly PongRequest[],
): Promise<PongsResponse> {
  const outcomes = await Promise.allSettled(pongs.map((request) => handlePong(service, request)))
  const refusals = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? toRefusal(index, outcome.reason) : [],
  )
  return { refusals }
}

function toRefusal(index: number, error: unknown): PongRefusal {
  const fault = error instanceof Fault ? error : toOutageFault(error)
  if (!fault) throw error
  return { index, kind: fault.kind, message: fault.message }
}
