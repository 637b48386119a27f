import { createHash } from 'node:crypto'
import type { SchedulerDeps } from './deps.ts'
import { type MisfirePlan, planMisfires } from './domain/misfires.ts'
import { LEASE_MS, submitUntil } from './lease.ts'
import { toAnchoredRecurrence } from './recurrences.ts'
import * as due from './store/due.ts'
import * as ticks from './store/ticks.ts'

const BATCH = 200

/**
 * Takes schedules that are due and moves them on. The tick and the schedule's next one are one
 * commit, so a tick is taken once whoever dies when; what it is to start is answered, and started
 * after the commit, by the caller or by whoever finds it unacknowledged.
 */
export async function fire({ db, catchupMs }: SchedulerDeps): Promise<ticks.Firing[]> {
  return await db.tx(async (tx) => {
    const until = submitUntil()
    const taken = await due.take(tx, BATCH)
    if (taken.length === 0) return []
    const firings: ticks.Firing[] = []
    const skipped: ticks.SkippedRange[] = []
    const moves: due.NextRun[] = []
    for (const schedule of taken) {
      const { schedule_id } = schedule
      const { reason, ...planned } = planDue(schedule, catchupMs)
      if (planned.fire) firings.push(toFiring(schedule, planned.fire, until))
      if (planned.skipped) skipped.push({ schedule_id, ...planned.skipped, reason })
      const rows = [planned.fire, planned.skipped].filter(Boolean).length
      moves.push({ schedule_id, next_run_at: planned.next, pending: !!planned.fire, ticks: rows })
    }
    await Promise.all([
      due.advance(tx, moves),
      ticks.insertFirings(tx, firings, LEASE_MS),
      ticks.insertSkipped(tx, skipped),
    ])
    return firings
  })
}

const MISSED = 'missed: no scheduler was there to fire it in time'
const HELD = 'missed: the tick before it was still being started'

/** A configuration that cannot be read any more must not keep the others from firing. */
function planDue(schedule: due.DueSchedule, catchupMs: number): MisfirePlan & { reason: string } {
  const { next_run_at: first, now } = schedule
  const wasHeld = schedule.released_at && schedule.released_at > first
  try {
    return {
      ...planMisfires(toAnchoredRecurrence(schedule), first, now, catchupMs),
      reason: wasHeld ? HELD : MISSED,
    }
  } catch (error) {
    const reason = `its configuration cannot be read: ${(error as Error).message}`
    return { fire: undefined, skipped: { first, last: first }, next: undefined, reason }
  }
}

function toFiring(schedule: due.DueSchedule, nominal_at: Date, until: number): ticks.Firing {
  const execution_id = deriveExecutionId(schedule.schedule_id, nominal_at)
  return { ...schedule, nominal_at, execution_id, attempts: 0, queued: false, until }
}

/** The same for everyone who ever fires this tick, so that nobody can fire it twice. */
export const deriveExecutionId = (schedule_id: string, nominal_at: Date): string =>
  createHash('sha256')
    .update(`${schedule_id}|${nominal_at.toISOString()}`)
    .digest('hex')
    .slice(0, 32)
