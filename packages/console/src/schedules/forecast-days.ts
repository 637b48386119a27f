import type { Forecast } from '../api/schedules.ts'

export interface ForecastDay {
  /** Begin of the day on the clock of the browser, in milliseconds since 1970. */
  start: number
  /** Ticks of each hour of the clock; both hours of a repeated one are in one. */
  hours: { ticks: number; schedules: number; isWhole: boolean }[]
  ticks: number
  /** False: there may be more ticks, which are not listed. */
  isWhole: boolean
  /** Most schedules that fire at one moment of the day. */
  most: number
}

const HOURS = 24

/** The time up to which every tick is listed, in milliseconds since 1970. */
export const listedUntil = ({ complete_until, schedules }: Forecast): number =>
  Math.min(
    ...[complete_until, ...schedules.map(({ listed_until }) => listed_until)].map((until) =>
      until === null ? Number.POSITIVE_INFINITY : Date.parse(until),
    ),
  )

/** Ticks by day and hour on the clock of the browser. */
export function daysOf(forecast: Forecast): ForecastDay[] {
  const { from, to, ticks, clashes } = forecast
  const days = emptyDays(Date.parse(from), Date.parse(to), listedUntil(forecast))
  const byStart = new Map(days.map((day) => [day.start, day]))
  const seen = new Map<string, Set<string>>()
  for (const { at, schedule_id } of ticks) {
    const moment = new Date(at)
    const day = byStart.get(startOf(moment))
    const hour = day?.hours[moment.getHours()]
    if (!day || !hour) continue
    day.ticks++
    hour.ticks++
    const key = `${day.start} ${moment.getHours()}`
    const known = seen.get(key) ?? new Set()
    seen.set(key, known.add(schedule_id))
    hour.schedules = known.size
    day.most = Math.max(day.most, 1)
  }
  for (const { at, count } of clashes) {
    const day = byStart.get(startOf(new Date(at)))
    if (day) day.most = Math.max(day.most, count)
  }
  return days
}

function startOf(moment: Date): number {
  return new Date(moment.getFullYear(), moment.getMonth(), moment.getDate()).getTime()
}

/** One day after the other by the calendar: a day may have 23 or 25 hours. */
function emptyDays(from: number, to: number, until: number): ForecastDay[] {
  const days: ForecastDay[] = []
  const first = new Date(from)
  for (let i = 0; ; i++) {
    const at = (hour: number) =>
      new Date(first.getFullYear(), first.getMonth(), first.getDate() + i, hour).getTime()
    const start = at(0)
    if (start >= to || !Number.isFinite(start)) return days
    const isWhole = (hour: number) => Math.min(at(hour), to) <= until
    const hours = Array.from({ length: HOURS }, (_, hour) => ({
      ...{ ticks: 0, schedules: 0 },
      isWhole: isWhole(hour + 1),
    }))
    days.push({ start, hours, ticks: 0, most: 0, isWhole: isWhole(HOURS) })
  }
}
