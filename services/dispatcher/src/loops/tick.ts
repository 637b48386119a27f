import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import { afterPoll, canEvict } from '../domain/eviction-guard.ts'
import type { HeartbeatBuffer } from '../heartbeat-buffer.ts'
import { publishWorkerSignal } from '../publish-signal.ts'
import type { WorkerRegistrySync } from '../registry-sync.ts'
import type { SessionLookup } from '../session-lookup.ts'
import * as heartbeatStore from '../store/heartbeats.ts'
import * as streams from '../store/streams.ts'
import type { PollResult } from '../store/watch.ts'
import { evict } from './evict.ts'

const MAX_TICK_MS = 1_000
const MAX_NORMAL_GAP_MS = 2_000
/** Changes are looked for this much further back than the last look: they may commit late. */
const LATE_COMMIT_MS = 5_000

export interface TickDeps {
  db: Db
  bus: Bus
  log: Logger
  replica_id: string
  heartbeats: HeartbeatBuffer
  sessionLookup: SessionLookup
  registry: WorkerRegistrySync
  releases: Pick<Loop, 'wake'>
  /** Something was put into the outbox. */
  onOutboxWrite(): void
  heartbeat_ms: number
  /** The silence after which a worker is evicted. */
  eviction_after_ms: number
}

/**
 * The dispatcher's own look around, once a second or twice in a heartbeat: writes what it heard,
 * reads what changed elsewhere, evicts. `outage_ms` is how long no dispatcher ran before this one began.
 */
export function createTickLoop(deps: TickDeps, outage_ms: number): Loop {
  const pauseMs = Math.min(MAX_TICK_MS, deps.heartbeat_ms / 2)
  const { eviction_after_ms } = deps
  const limits = {
    gap_ms: pauseMs + Math.min(MAX_NORMAL_GAP_MS, eviction_after_ms / 4),
    eviction_after_ms,
  }
  const start_ms = performance.now()
  let guard = afterPoll(
    { polled_at_ms: start_ms - outage_ms, evict_from_ms: start_ms },
    start_ms,
    limits,
  )

  /** Answers whether there may be more to evict. Pongs are written in between. */
  const tickOnce = async (): Promise<boolean> => {
    const now_ms = performance.now()
    const seen = await flushAndPoll(deps, now_ms - guard.polled_at_ms)
    guard = afterPoll(guard, now_ms, limits)
    deps.registry.applyChanges(seen.changed)
    const evicted = seen.hasSilentWorkers && canEvict(guard, now_ms) ? await evict(deps) : 0
    if (evicted > 0) deps.onOutboxWrite()
    if (evicted > 0 || seen.hasPendingReleases) deps.releases.wake()
    return evicted > 0
  }

  return loop({ name: 'tick', pauseMs, log: deps.log }, async () => {
    try {
      return await tickOnce()
    } catch (error) {
      // Not thrown on: the loop would pause ever longer, and liveness must be looked at each second.
      deps.log.warn({ err: error }, 'the database cannot be reached')
      return false
    }
  })
}

/** Writes what is known here only, tells of workers whose health changed by it, and answers what else there is to see. */
export function flushAndPoll(
  { db, bus, replica_id, heartbeats, sessionLookup, registry, eviction_after_ms }: TickDeps,
  since_ms = 0,
): Promise<PollResult> {
  const window = {
    within_seconds: (since_ms + LATE_COMMIT_MS) / 1_000,
    silence_seconds: eviction_after_ms / 1_000,
  }
  return heartbeats.flush(performance.now(), async (heartbeats, disconnects) => {
    if (disconnects.length > 0) await streams.disconnect(db, disconnects)
    const { unknownSessions, healthChanged, ...seen } = await heartbeatStore.write(db, {
      replica_id,
      heartbeats,
      window,
    })
    sessionLookup.invalidate(unknownSessions)
    for (const name of healthChanged) {
      registry.refresh(name)
      publishWorkerSignal(bus, name, { $case: 'revised', value: {} })
    }
    return seen
  })
}
