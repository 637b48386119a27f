import type {
  PongRefusal,
  PongRequest,
  PongsResponse,
} from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { Fault, notFound } from '@windlass/runtime/faults'
import type { Bus } from '@windlass/runtime/nats/bus'
import { toOutageFault } from '@windlass/runtime/postgres/outage'
import type { Callers } from '../callers.ts'
import { metricsJson } from '../domain/presence.ts'
import type { Pulse } from '../pulse.ts'
import type { Sessions } from '../sessions.ts'
import { signalFirst } from '../signals.ts'

export interface Ponging {
  bus: Bus
  callers: Callers
  sessions: Sessions
  pulse: Pulse
  /** A worker's health changed: write it now, not at the next tick. */
  flipped(): void
}

/** Takes in a heartbeat answer. One of a session that is not the name's any more is `unauthenticated`, so that its worker registers anew. */
export async function pong(
  { bus, callers, sessions, pulse, flipped }: Ponging,
  { name, session_id: claimed, healthy, metrics }: PongRequest,
): Promise<void> {
  const session_id = await callers.sessionOf(name, claimed)
  if (session_id === undefined) throw notFound('Worker', name)
  if (claimed !== '' && claimed !== session_id)
    throw new Fault('unauthenticated', 'This session of the worker has ended')
  const taken = metrics && metricsJson(metrics.values)
  const now_ms = performance.now()
  // Whoever has its stream stops giving it work before anybody can read that it is unhealthy.
  if (!healthy && !sessions.get(name))
    await signalFirst(bus, name, { $case: 'unwell', value: { session_id } })
  pulse.beat({ name, session_id, healthy, metrics: taken }, now_ms)
  const session = sessions.get(name)
  if (session ? session.healthy === healthy : healthy) return
  session?.feel(healthy)
  sessions.changed()
  flipped()
}

/** Takes in those of many workers, each for itself. */
export async function takePongs(
  service: Ponging,
  pongs: readonly PongRequest[],
): Promise<PongsResponse> {
  const answers = await Promise.all(
    pongs.map((request, index) =>
      pong(service, request).then(
        () => [],
        (error) => [refusalOf(index, error)],
      ),
    ),
  )
  return { refusals: answers.flat() }
}

function refusalOf(index: number, error: unknown): PongRefusal {
  const fault = error instanceof Fault ? error : toOutageFault(error)
  if (!fault) throw error
  return { index, kind: fault.kind, message: fault.message }
}
