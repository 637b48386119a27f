import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { Callers } from '../callers.ts'
import { looked, mayEvict } from '../domain/patience.ts'
import type { Pulse } from '../pulse.ts'
import type { Roster } from '../roster.ts'
import { signal } from '../signals.ts'
import * as beatStore from '../store/beats.ts'
import * as streams from '../store/streams.ts'
import type { Glance } from '../store/watch.ts'
import { evict } from './evict.ts'

const MAX_TICK_MS = 1_000
const MAX_ORDINARY_GAP_MS = 2_000
/** Changes are looked for this much further back than the last look: they may commit late. */
const LATE_MS = 5_000

export interface Ticking {
  db: Db
  bus: Bus
  log: Logger
  replica_id: string
  pulse: Pulse
  callers: Callers
  roster: Roster
  releases: Pick<Loop, 'wake'>
  /** Something was put into the outbox. */
  published(): void
  heartbeat_ms: number
  /** The silence after which a worker is evicted. */
  silence_ms: number
}

/**
 * The dispatcher's own look around, once a second or twice in a heartbeat: writes what it heard,
 * reads what changed elsewhere, evicts. `dark_ms` is how long no dispatcher ran before this one began.
 */
export function tickLoop(ticking: Ticking, dark_ms: number): Loop {
  const pauseMs = Math.min(MAX_TICK_MS, ticking.heartbeat_ms / 2)
  const { silence_ms } = ticking
  const tolerance = { gap_ms: pauseMs + Math.min(MAX_ORDINARY_GAP_MS, silence_ms / 4), silence_ms }
  const start_ms = performance.now()
  let patience = looked(
    { looked_at_ms: start_ms - dark_ms, wait_until_ms: start_ms },
    start_ms,
    tolerance,
  )

  /** Answers whether there may be more to evict. Pongs are written in between. */
  const round = async (): Promise<boolean> => {
    const now_ms = performance.now()
    const seen = await flush(ticking, now_ms - patience.looked_at_ms)
    patience = looked(patience, now_ms, tolerance)
    ticking.roster.learn(seen.changed)
    const evicted = seen.silent && mayEvict(patience, now_ms) ? await evict(ticking) : 0
    if (evicted > 0) ticking.published()
    if (evicted > 0 || seen.owing) ticking.releases.wake()
    return evicted > 0
  }

  return loop({ name: 'tick', pauseMs, log: ticking.log }, async () => {
    try {
      return await round()
    } catch (error) {
      // Not thrown on: the loop would pause ever longer, and liveness must be looked at each second.
      ticking.log.warn({ err: error }, 'the database cannot be reached')
      return false
    }
  })
}

/** Writes what is known here only, tells of workers whose health changed by it, and answers what else there is to see. */
export function flush(
  { db, bus, replica_id, pulse, callers, roster, silence_ms }: Ticking,
  since_ms = 0,
): Promise<Glance> {
  const glimpse = {
    within_seconds: (since_ms + LATE_MS) / 1_000,
    silence_seconds: silence_ms / 1_000,
  }
  return pulse.flush(performance.now(), async (beats, departures) => {
    if (departures.length > 0) await streams.disconnect(db, departures)
    const { strangers, flipped, ...seen } = await beatStore.write(db, {
      replica_id,
      beats,
      glimpse,
    })
    callers.forget(strangers)
    for (const name of flipped) {
      roster.refresh(name)
      signal(bus, name, { $case: 'revised', value: {} })
    }
    return seen
  })
}
