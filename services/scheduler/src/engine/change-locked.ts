import { readClock } from '@windlass/runtime/postgres/clock'
import type { Tx } from '@windlass/runtime/postgres/db'
import { parseConfig } from '../domain/config.ts'
import { ticksBefore } from '../domain/misfires.ts'
import { nextTick } from '../domain/recurrence.ts'
import * as due from '../store/due.ts'
import type { ScheduleRow } from '../store/schedules.ts'
import * as ticks from '../store/ticks.ts'
import { toAnchoredRecurrence } from './read-recurrence.ts'

/** Columns derived from a configuration anchored at `now`; `next_run_at` is undefined if it never fires. */
export function toTiming(schedule_config: string, now: Date) {
  const recurrence = parseConfig(schedule_config)
  const next_run_at = nextTick({ recurrence, anchor: now }, now)
  return { schedule_type: recurrence.kind, schedule_config, anchor_at: now, next_run_at }
}

const PAUSED = 'the schedule was paused'

/**
 * Pauses a locked schedule and skips its queued ticks. Ticks during the pause are recorded when it
 * is resumed.
 */
export async function pauseLocked(tx: Tx, row: ScheduleRow): Promise<ScheduleRow> {
  await ticks.skipQueued(tx, row.id, PAUSED)
  return { ...row, status: 'paused' }
}

/** Resumes a locked schedule with its anchor unchanged; records the ticks of the pause as skipped. */
export async function resumeLocked(tx: Tx, row: ScheduleRow): Promise<ScheduleRow> {
  const now = await readClock(tx)
  await skipDue(tx, row, now)
  return { ...row, status: 'active', next_run_at: nextTick(toAnchoredRecurrence(row), now) }
}

/** Sets a configuration anchored at the current time; records due ticks of the previous one as skipped. */
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
  const recorded = await ticks.insertSkipped(tx, [{ schedule_id: row.id, ...span, reason }])
  if (recorded.length > 0) await due.countTick(tx, row.id)
}
