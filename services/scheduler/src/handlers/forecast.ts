import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { readVisibility } from '@windlass/domain/visibility'
import type {
  ForecastRequest,
  ForecastResponse,
  ForecastSchedule,
  NextRequest,
  NextResponse,
} from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { notFound } from '@windlass/runtime/faults'
import { readClock } from '@windlass/runtime/postgres/clock'
import { type ForecastTick, findClashes } from '../domain/clashes.ts'
import { listClockChanges } from '../domain/clock-changes.ts'
import { parseTimezone } from '../domain/config.ts'
import { listTicks } from '../domain/recurrence.ts'
import { toLocalText } from '../domain/zone.ts'
import type { SchedulerDeps } from '../engine/deps.ts'
import { toAnchoredRecurrence } from '../engine/read-recurrence.ts'
import * as schedules from '../store/schedules.ts'
import { toScheduleView } from './views.ts'

const HOUR_MS = 3_600_000
const MAX_HOURS = 8_784
const MAX_COUNT = 1_000
const MAX_LISTED = 10_000
const MAX_SCHEDULES = 1_000
/** Maximum number of ticks that one forecast computes, which bounds it to about a second. */
const MAX_COMPUTED = 10_000
/** Limit for each schedule, so that a frequent one does not displace the others. */
const MAX_OF_ONE = 200
const END_OF_TIME = new Date(8.64e15)

const clamp = (value: number, max: number) => Math.min(Math.max(value, 1), max)

/** Coming ticks of one schedule, paused or not. Faults: `not_found`. */
export async function listNextTicks(
  { db }: SchedulerDeps,
  { ref, count }: NextRequest,
): Promise<NextResponse> {
  const row = await schedules.find(db, ref)
  if (!row) throw notFound('Schedule', ref)
  const now = await readClock(db)
  const anchored = toAnchoredRecurrence(row)
  const timezone = parseTimezone(row.schedule_config)
  const ticks = listTicks(anchored, now, END_OF_TIME, clamp(count, MAX_COUNT))
  return {
    schedule: toScheduleView(row),
    timezone,
    ticks: ticks.map((at) => ({ at, local: toLocalText(timezone, at) })),
    clock_changes: listClockChanges(anchored, now, lastChangeToList(now, ticks.at(-1))),
  }
}

/** Clock changes are listed for at most one year. */
const lastChangeToList = (now: Date, last: Date | undefined) =>
  new Date(Math.min(last?.getTime() ?? now.getTime(), now.getTime() + MAX_HOURS * HOUR_MS))

/** Ticks of active schedules in the coming hours. Yields to the event loop between schedules. */
export async function forecastTicks(
  { db }: SchedulerDeps,
  request: ForecastRequest,
): Promise<ForecastResponse> {
  const from = await readClock(db)
  const to = new Date(from.getTime() + clamp(request.hours, MAX_HOURS) * HOUR_MS)
  const { all, workflows, ids } = request
  const visible = readVisibility({ all, workflows, ids })
  const { schedules: rows, total } = await schedules.listUpcoming(db, visible, MAX_SCHEDULES)
  const maxOfOne = clamp(Math.floor(MAX_COMPUTED / Math.max(rows.length, 1)), MAX_OF_ONE)
  const listed: ForecastSchedule[] = []
  const ticks: ForecastTick[] = []
  for (const row of rows) {
    await yieldToEventLoop()
    const anchored = toAnchoredRecurrence(row)
    const own = listTicks(anchored, from, to, maxOfOne + 1)
    const isTruncated = own.length > maxOfOne
    if (isTruncated) own.pop()
    if (own.length === 0) continue
    const { id: schedule_id, name, workflow_namespace, workflow_name } = row
    const workflow = `${workflow_namespace}/${workflow_name}`
    for (const at of own) ticks.push({ at, schedule_id, workflow })
    listed.push({
      ...{ schedule_id, name, workflow_namespace, workflow_name },
      timezone: parseTimezone(row.schedule_config),
      listed: own.length,
      listed_until: isTruncated ? own.at(-1) : undefined,
      clock_changes: listClockChanges(anchored, from, to),
    })
  }
  ticks.sort((a, b) => a.at.getTime() - b.at.getTime())
  const listedTicks = ticks.slice(0, clamp(request.limit, MAX_LISTED))
  return {
    ...{ from, to, schedules: listed, looked_at: rows.length, active: total },
    ticks: listedTicks.map(({ at, schedule_id }) => ({ at, schedule_id })),
    clashes: findClashes(ticks),
    complete_until: listedTicks.length < ticks.length ? listedTicks.at(-1)?.at : undefined,
  }
}
