import type { PongRequest } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { Fault, notFound } from '@windlass/runtime/faults'
import type { Callers } from '../callers.ts'
import { metricsJson } from '../domain/presence.ts'
import type { Pulse } from '../pulse.ts'
import type { Sessions } from '../sessions.ts'

export interface Ponging {
  callers: Callers
  sessions: Sessions
  pulse: Pulse
  /** A worker's health changed: write it now, not at the next tick. */
  flipped(): void
}

/** Takes in a heartbeat answer. One of a session that is not the name's any more is `unauthenticated`, so that its worker registers anew. */
export async function pong(
  { callers, sessions, pulse, flipped }: Ponging,
  { name, session_id: claimed, healthy, metrics }: PongRequest,
): Promise<void> {
  const session_id = await callers.sessionOf(name, claimed)
  if (session_id === undefined) throw notFound('Worker', name)
  if (claimed !== '' && claimed !== session_id)
    throw new Fault('unauthenticated', 'This session of the worker has ended')
  const taken = metrics && metricsJson(metrics.values)
  pulse.beat({ name, session_id, healthy, metrics: taken }, performance.now())
  const session = sessions.get(name)
  if (session ? session.healthy === healthy : healthy) return
  session?.feel(healthy)
  flipped()
}
