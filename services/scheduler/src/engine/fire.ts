import { createHash } from 'node:crypto'
import { type MisfirePlan, planMisfires } from '../domain/misfires.ts'
import * as due from '../store/due.ts'
import * as ticks from '../store/ticks.ts'
import type { SchedulerDeps } from './deps.ts'
import { LEASE_MS, submitDeadlineMs } from './lease.ts'
import { toAnchoredRecurrence } from './read-recurrence.ts'

const BATCH = 200

/**
 * Takes schedules that are due and moves them on. The tick and the schedule's next one are one
 * commit, so a tick is taken once whoever dies when; what it is to start is answered, and started
 * after the commit, by the caller or by whoever finds it unacknowledged.
 */
export async function fire({ db, catchupMs }: SchedulerDeps): Promise<ticks.Firing[]> {
  return await db.tx(async (tx) => {
    const submit_before_ms = submitDeadlineMs()
    const taken = await due.lockDue(tx, BATCH)
    if (taken.length === 0) return []
    const firings: ticks.Firing[] = []
    const skipped: ticks.SkippedRange[] = []
    const next_runs: due.NextRun[] = []
    for (const schedule of taken) {
      const { schedule_id } = schedule
      const { reason, ...planned } = planDue(schedule, catchupMs)
      if (planned.fire) firings.push(toFiring(schedule, planned.fire, submit_before_ms))
      if (planned.skipped) skipped.push({ schedule_id, ...planned.skipped, reason })
      const rows = [planned.fire, planned.skipped].filter(Boolean).length
      next_runs.push({
        schedule_id,
        next_run_at: planned.next,
        is_pending: !!planned.fire,
        new_ticks: rows,
      })
    }
    await Promise.all([
      due.advance(tx, next_runs),
      ticks.insertFirings(tx, firings, LEASE_MS),
      ticks.insertSkipped(tx, skipped),
    ])
    return firings
  })
}

const MISSED = 'missed: no scheduler was there to fire it in time'
const DELAYED = 'missed: the tick before it was still being started'

/** A configuration that cannot be read any more must not keep the others from firing. */
function planDue(schedule: due.DueSchedule, catchupMs: number): MisfirePlan & { reason: string } {
  const { next_run_at: first, now } = schedule
  const wasDelayed = schedule.released_at && schedule.released_at > first
  try {
    return {
      ...planMisfires(toAnchoredRecurrence(schedule), first, now, catchupMs),
      reason: wasDelayed ? DELAYED : MISSED,
    }
  } catch (error) {
    const reason = `its configuration cannot be read: ${(error as Error).message}`
    return { fire: undefined, skipped: { first, last: first }, next: undefined, reason }
  }
}

function toFiring(
  schedule: due.DueSchedule,
  nominal_at: Date,
  submit_before_ms: number,
): ticks.Firing {
  const execution_id = deriveExecutionId(schedule.schedule_id, nominal_at)
  return { ...schedule, nominal_at, execution_id, attempts: 0, is_queued: false, submit_before_ms }
}

/** The same for everyone who ever fires this tick, so that nobody can fire it twice. */
export const deriveExecutionId = (schedule_id: string, nominal_at: Date): string =>
  createHash('sha256')
    .update(`${schedule_id}|${nominal_at.toISOString()}`)
    .digest('hex')
    .slice(0, 32)
