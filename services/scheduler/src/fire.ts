import { createHash } from 'node:crypto'
import { type Plan, plan } from './domain/plan.ts'
import type { Parts } from './parts.ts'
import { recurrenceOf } from './recurrences.ts'
import * as due from './store/due.ts'
import * as ticks from './store/ticks.ts'

const BATCH = 200
/** A replica that has not settled a firing by then is taken to be dead. More than its calls may last. */
export const LEASE_MS = 15_000

/**
 * Takes schedules that are due and moves them on. The tick and the schedule's next one are one
 * commit, so a tick is taken once whoever dies when; what it is to start is answered, and started
 * after the commit, by the caller or by whoever finds it unacknowledged.
 */
export async function fire({ db, catchupMs }: Parts): Promise<ticks.Firing[]> {
  return await db.tx(async (tx) => {
    const taken = await due.take(tx, BATCH)
    if (taken.length === 0) return []
    const firings: ticks.Firing[] = []
    const skipped: ticks.Skipped[] = []
    const moves: due.Move[] = []
    for (const schedule of taken) {
      const { schedule_id } = schedule
      const { reason, ...planned } = planOf(schedule, catchupMs)
      if (planned.fire) firings.push(firingOf(schedule, planned.fire))
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

/** A configuration that cannot be read any more must not keep the others from firing. */
function planOf(schedule: due.Due, catchupMs: number): Plan & { reason: string } {
  const { schedule_config, anchor_at: anchor, next_run_at: first, now } = schedule
  try {
    const clockwork = { recurrence: recurrenceOf(schedule_config), anchor }
    return { ...plan(clockwork, first, now, catchupMs), reason: MISSED }
  } catch (error) {
    const reason = `its configuration cannot be read: ${(error as Error).message}`
    return { fire: undefined, skipped: { first, last: first }, next: undefined, reason }
  }
}

function firingOf(schedule: due.Due, nominal_at: Date): ticks.Firing {
  const { schedule_id, workflow_namespace, workflow_name, input_bytes, run_as } = schedule
  const execution_id = executionId(schedule_id, nominal_at)
  const workflow = { workflow_namespace, workflow_name }
  return { schedule_id, nominal_at, execution_id, ...workflow, input_bytes, run_as, attempts: 0 }
}

/** The same for everyone who ever fires this tick, so that nobody can fire it twice. */
export const executionId = (schedule_id: string, nominal_at: Date): string =>
  createHash('sha256')
    .update(`${schedule_id}|${nominal_at.toISOString()}`)
    .digest('hex')
    .slice(0, 32)
