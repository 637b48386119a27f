import type { Tx } from '@windlass/runtime/postgres/db'
import { parseConfig } from '../domain/config.ts'
import { ticksBefore } from '../domain/misfires.ts'
import { nextTick } from '../domain/recurrence.ts'
import * as due from '../store/due.ts'
import { readClock, type ScheduleRow } from '../store/schedules.ts'
import * as ticks from '../store/ticks.ts'
import { toAnchoredRecurrence } from './read-recurrence.ts'

/** The columns that a configuration decides, when it counts from `now`. `next_run_at` is absent if it never fires. */
export function toTiming(schedule_config: string, now: Date) {
  const recurrence = parseConfig(schedule_config)
  const next_run_at = nextTick({ recurrence, anchor: now }, now)
  return { schedule_type: recurrence.kind, schedule_config, anchor_at: now, next_run_at }
}

const PAUSED = 'the schedule was paused'

/** Stops a locked schedule and leaves out what waits; the ticks that fall due meanwhile are recorded when it goes on. */
export async function pauseLocked(tx: Tx, row: ScheduleRow): Promise<ScheduleRow> {
  await ticks.skipQueued(tx, row.id, PAUSED)
  return { ...row, status: 'paused' }
}

/** Lets a locked schedule go on from now, in its old rhythm; the ticks of its pause are recorded as skipped. */
export async function resumeLocked(tx: Tx, row: ScheduleRow): Promise<ScheduleRow> {
  const now = await readClock(tx)
  await skipDue(tx, row, now)
  return { ...row, status: 'active', next_run_at: nextTick(toAnchoredRecurrence(row), now) }
}

/** Gives a locked schedule another configuration, which counts from now; due ticks of the old one are recorded as skipped. */
export async function reconfigureLocked(
  tx: Tx,
  row: ScheduleRow,
  schedule_config: string,
): Promise<ScheduleRow> {
  const now = await readClock(tx)
  await skipDue(tx, row, now)
  return { ...row, ...toTiming(schedule_config, now) }
}

async function skipDue(tx: Tx, row: ScheduleRow, now: Date): Promise<void> {
  if (!row.next_run_at || row.next_run_at > now) return
  const span = ticksBefore(toAnchoredRecurrence(row), row.next_run_at, new Date(now.getTime() + 1))
  if (!span) return
  const reason = row.status === 'paused' ? PAUSED : 'the schedule was changed'
  await ticks.insertSkipped(tx, [{ schedule_id: row.id, ...span, reason }])
  await due.countTick(tx, row.id)
}
