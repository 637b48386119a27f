import type {
  PongRefusal,
  PongRequest,
  PongsResponse,
} from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { Fault, notFound } from '@windlass/runtime/faults'
import type { Bus } from '@windlass/runtime/nats/bus'
import { toOutageFault } from '@windlass/runtime/postgres/outage'
import type { ConnectedWorkers } from '../connected-workers.ts'
import { metricsJson } from '../domain/presence.ts'
import type { HeartbeatBuffer } from '../heartbeat-buffer.ts'
import { publishAndFlush } from '../publish-signal.ts'
import type { SessionLookup } from '../session-lookup.ts'

export interface PongDeps {
  bus: Bus
  sessionLookup: SessionLookup
  workers: ConnectedWorkers
  heartbeats: HeartbeatBuffer
  /** A worker's health changed: write it now, not at the next tick. */
  onHealthChanged(): void
}

/** Takes in a heartbeat answer. One of a session that is not the name's any more is `unauthenticated`, so that its worker registers anew. */
export async function handlePong(
  { bus, sessionLookup, workers, heartbeats, onHealthChanged }: PongDeps,
  { name, session_id: claimed, healthy, metrics }: PongRequest,
): Promise<void> {
  const session_id = await sessionLookup.getSession(name, claimed)
  if (session_id === undefined) throw notFound('Worker', name)
  if (claimed !== '' && claimed !== session_id)
    throw new Fault('unauthenticated', 'This session of the worker has ended')
  const taken = metrics && metricsJson(metrics.values)
  const now_ms = performance.now()
  // Whoever has its stream stops giving it work before anybody can read that it is unhealthy.
  if (!healthy && !workers.get(name))
    await publishAndFlush(bus, name, { $case: 'unwell', value: { session_id } })
  heartbeats.recordPong({ name, session_id, healthy, metrics: taken }, now_ms)
  const worker = workers.get(name)
  if (worker ? worker.isHealthy === healthy : healthy) return
  worker?.setHealthFromHeartbeat(healthy)
  workers.bumpFleetVersion()
  onHealthChanged()
}

/** Takes in those of many workers, each for itself. */
export async function handlePongs(
  service: PongDeps,
  pongs: readonly PongRequest[],
): Promise<PongsResponse> {
  const answers = await Promise.all(
    pongs.map((request, index) =>
      handlePong(service, request).then(
        () => [],
        (error) => [toRefusal(index, error)],
      ),
    ),
  )
  return { refusals: answers.flat() }
}

function toRefusal(index: number, error: unknown): PongRefusal {
  const fault = error instanceof Fault ? error : toOutageFault(error)
  if (!fault) throw error
  return { index, kind: fault.kind, message: fault.message }
}
