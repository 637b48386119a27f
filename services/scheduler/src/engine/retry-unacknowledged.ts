import { decideRetry } from '../domain/retry.ts'
import * as ticks from '../store/ticks.ts'
import { confirmUnstarted, mayStillStart } from './confirm-unstarted.ts'
import type { SchedulerDeps } from './deps.ts'
import { CREATE_MS, LEASE_MS, submitDeadlineMs } from './lease.ts'
import { startExecutions } from './start-executions.ts'
import { skippedOutcome } from './tick-outcomes.ts'

const BATCH = 50

/**
 * Leases firings without an outcome: their replica died, a dependency was unavailable, or they are
 * queued.
 */
export async function retryUnacknowledged(deps: SchedulerDeps): Promise<boolean> {
  const submit_before_ms = submitDeadlineMs()
  const late = await ticks.leaseUnacknowledged(deps.db, BATCH, LEASE_MS)
  const retried: ticks.Firing[] = []
  const expired: ticks.UnacknowledgedTick[] = []
  const waiting: ticks.UnacknowledgedTick[] = []
  const waitsMs: number[] = []
  for (const firing of late) {
    const decision = decide(firing, deps.catchupMs)
    if (decision === 'retry') retried.push({ ...firing, submit_before_ms })
    else if (decision === 'give_up') expired.push(firing)
    else {
      waiting.push(firing)
      waitsMs.push(decision.waitMs)
    }
  }
  if (waiting.length > 0) await ticks.postpone(deps.db, waiting, waitsMs)
  if (expired.length > 0) await giveUp(deps, expired)
  await startExecutions(deps, retried)
  return late.length === BATCH
}

/** A queued tick does not expire: it waits for earlier executions, not for a dependency. */
function decide(tick: ticks.UnacknowledgedTick, catchupMs: number) {
  const { is_paused, is_queued, age_ms, open_ms = 0 } = tick
  if (is_paused) return mayStillStart(tick) ? { waitMs: open_ms + CREATE_MS } : 'give_up'
  return is_queued ? 'retry' : decideRetry(age_ms, catchupMs)
}

/** Skips expired firings, except those that an attempt with a lost reply has started. */
async function giveUp(deps: SchedulerDeps, expired: ticks.UnacknowledgedTick[]): Promise<void> {
  const skipped = expired.map((firing) => ({
    ...skippedOutcome(firing, firing.is_paused ? PAUSED : UNAVAILABLE),
    firing,
  }))
  const outcomes = await confirmUnstarted(deps, skipped)
  if (outcomes.length > 0) await deps.db.tx((tx) => ticks.acknowledge(tx, outcomes))
}

const PAUSED = 'the schedule was paused before it could be started'
const UNAVAILABLE = 'missed: it could not be started within the catch-up window'
