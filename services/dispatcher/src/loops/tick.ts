import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import { afterPoll, canEvict } from '../domain/eviction-guard.ts'
import type { HeartbeatBuffer } from '../engine/heartbeat-buffer.ts'
import { publishWorkerSignal } from '../engine/publish-signal.ts'
import type { WorkerRegistrySync } from '../engine/registry-sync.ts'
import type { SessionLookup } from '../engine/session-lookup.ts'
import * as heartbeatStore from '../store/heartbeats.ts'
import * as streams from '../store/streams.ts'
import type { PollResult } from '../store/watch.ts'
import { evict, evictDeparted } from './evict.ts'

const MAX_TICK_MS = 1_000
const MAX_NORMAL_GAP_MS = 2_000
/** Overlap of consecutive polls: a change may commit this long after its `changed_at`. */
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
  /** Called after events were written to the outbox. */
  onOutboxWrite(): void
  heartbeat_ms: number
  /** `heartbeat_timeout` + `eviction_grace_period`. */
  eviction_after_ms: number
}

/**
 * Once a second, or twice in a heartbeat interval: writes the buffered pongs, reads what other
 * dispatchers changed, and evicts silent workers. It is the polling fallback of every worker signal.
 * `outage_ms`: time before this start in which no dispatcher ran.
 */
export function createTickLoop(deps: TickDeps, outage_ms: number): Loop {
  const pauseMs = Math.min(MAX_TICK_MS, deps.heartbeat_ms / 2)
  const { eviction_after_ms } = deps
  const gap_ms = pauseMs + Math.min(MAX_NORMAL_GAP_MS, eviction_after_ms / 4)
  const limits = { gap_ms, eviction_after_ms }
  const start_ms = performance.now()
  const beforeStart = { polled_at_ms: start_ms - outage_ms, evict_from_ms: start_ms }
  let guard = afterPoll(beforeStart, start_ms, limits)

  /** Runs one tick; returns true if more workers may be due. Pongs are written between batches. */
  const tickOnce = async (): Promise<boolean> => {
    const now_ms = performance.now()
    const seen = await flushAndPoll(deps, now_ms - guard.polled_at_ms)
    guard = afterPoll(guard, now_ms, limits)
    deps.registry.applyChanges(seen.changed)
    const evicted = canEvict(guard, now_ms) ? await evictDue(deps, seen) : 0
    if (evicted > 0) deps.onOutboxWrite()
    if (evicted > 0 || seen.hasPendingReleases) deps.releases.wake()
    return evicted > 0
  }

  return loop({ name: 'tick', pauseMs, log: deps.log }, async () => {
    try {
      return await tickOnce()
    } catch (error) {
      // Not rethrown, because the loop would back off, and liveness must be checked every second.
      deps.log.warn({ err: error }, 'failed to run tick')
      return false
    }
  })
}

const evictDue = async (deps: TickDeps, seen: PollResult): Promise<number> =>
  (seen.hasDepartedWorkers ? await evictDeparted(deps) : 0) +
  (seen.hasSilentWorkers ? await evict(deps) : 0)

/** Writes buffered pongs and disconnects, signals changes of health, and returns what the poll found. */
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
    const batch = { replica_id, heartbeats, window }
    const { unknownSessions, healthChanged, ...seen } = await heartbeatStore.write(db, batch)
    sessionLookup.invalidate(unknownSessions)
    for (const name of healthChanged) {
      registry.refresh(name)
      publishWorkerSignal(bus, name, { $case: 'revised', value: {} })
    }
    return seen
  })
}
