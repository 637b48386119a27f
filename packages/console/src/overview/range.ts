/** The time that the overview of executions covers: that of the filter, or one of some lengths up to now. */
import { millis } from '../format/time.ts'

export interface TimeRange {
  /** Milliseconds since 1970. */
  from: number
  to: number
  /** Seconds. */
  step: number
}

const SECOND_MS = 1_000
const HOUR_S = 3_600
const DAY_S = 86_400

/** Lengths to choose from, in seconds. */
export const LENGTHS: readonly (readonly [name: string, seconds: number])[] = [
  ['1h', HOUR_S],
  ['24h', DAY_S],
  ['7d', 7 * DAY_S],
  ['30d', 30 * DAY_S],
]

const STEPS_S = [1, 5, 15, 60, 300, 900, HOUR_S, 6 * HOUR_S, DAY_S, 7 * DAY_S, 365 * DAY_S]
const MAX_BARS = 60

/** The shortest step that makes no more bars than are drawn. */
const stepFor = (seconds: number): number =>
  STEPS_S.find((step) => seconds / step <= MAX_BARS) ?? 365 * DAY_S

/** The range of an address. It begins and ends at whole steps, so that the bars stay where they are. */
export function rangeOf(query: URLSearchParams, now: number): TimeRange {
  const [, length = HOUR_S] = LENGTHS.find(([name]) => name === query.get('range')) ?? []
  const to = millis(query.get('created_before')) ?? now
  const from = millis(query.get('created_after')) ?? to - length * SECOND_MS
  const seconds = Math.max(1, (to - from) / SECOND_MS)
  const step = stepFor(seconds)
  const whole = step * SECOND_MS
  const first = Math.floor(from / whole) * whole
  return { from: first, to: Math.max(first + whole, Math.ceil(to / whole) * whole), step }
}

/** The whole steps between two places of the chart, which are parts of its width from 0 to 1. */
export function stepsBetween({ from, to, step }: TimeRange, a: number, b: number) {
  const whole = step * SECOND_MS
  const count = Math.max(1, Math.round((to - from) / whole))
  const first = Math.min(count - 1, Math.max(0, Math.floor(Math.min(a, b) * count)))
  const last = Math.min(count, Math.max(first + 1, Math.ceil(Math.max(a, b) * count)))
  return { from: from + first * whole, to: from + last * whole }
}
