import type { Forecast } from '../api/schedules.ts'

export interface ForecastDay {
  /** Begin of the day on the clock of the browser, in milliseconds since 1970. */
  start: number
  /** Ticks of each hour of the clock; both hours of a repeated one are in one. */
  hours: { ticks: number; schedules: number }[]
  ticks: number
  /** Most schedules that fire at one moment of the day. */
  most: number
}

const HOURS = 24

/** Ticks by day and hour on the clock of the browser. */
export function daysOf({ from, to, ticks, clashes }: Forecast): ForecastDay[] {
  const days = emptyDays(Date.parse(from), Date.parse(to))
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
function emptyDays(from: number, to: number): ForecastDay[] {
  const days: ForecastDay[] = []
  const first = new Date(from)
  for (let i = 0; ; i++) {
    const start = new Date(first.getFullYear(), first.getMonth(), first.getDate() + i).getTime()
    if (start >= to || !Number.isFinite(start)) return days
    const hours = Array.from({ length: HOURS }, () => ({ ticks: 0, schedules: 0 }))
    days.push({ start, hours, ticks: 0, most: 0 })
  }
}
