const DAY_MS = 86_400_000
const formats = new Map<string, Intl.DateTimeFormat>()

/** Offset of a zone from UTC at a time, in milliseconds. */
export function offsetAt(timezone: string, at: Date): number {
  const parts: Record<string, number> = {}
  for (const { type, value } of formatOf(timezone).formatToParts(at)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  const clock = new Date(0)
  clock.setUTCFullYear(year, month - 1, day)
  clock.setUTCHours(hour, minute, second)
  return clock.getTime() - Math.floor(at.getTime() / 1_000) * 1_000
}

export interface Transition {
  /** First time with the new offset. */
  at: Date
  beforeMs: number
  afterMs: number
}

/** Offset changes of a zone after `from` and up to `to`. */
export function listTransitions(timezone: string, from: Date, to: Date): Transition[] {
  const found: Transition[] = []
  let beforeMs = offsetAt(timezone, from)
  for (let start = from.getTime(); start < to.getTime(); start += DAY_MS) {
    const end = Math.min(start + DAY_MS, to.getTime())
    const afterMs = offsetAt(timezone, new Date(end))
    if (afterMs !== beforeMs)
      found.push({ at: findTransition(timezone, start, end), beforeMs, afterMs })
    beforeMs = afterMs
  }
  return found
}

/** Finds the second of an offset change by bisection. */
function findTransition(timezone: string, start: number, end: number): Date {
  const before = offsetAt(timezone, new Date(start))
  let [low, high] = [Math.floor(start / 1_000), Math.ceil(end / 1_000)]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(timezone, new Date(middle * 1_000)) === before) low = middle
    else high = middle
  }
  return new Date(high * 1_000)
}

/** Local time of a zone in RFC 3339, with its offset. */
export function toLocalText(timezone: string, at: Date): string {
  const offset = offsetAt(timezone, at)
  const minutes = Math.round(Math.abs(offset) / 60_000)
  const two = (number: number) => String(number).padStart(2, '0')
  const ahead = `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  return toClockText(new Date(at.getTime() + offset)) + ahead
}

/** Text of a local time that is represented as if it were UTC. */
export const toClockText = (clock: Date): string => clock.toISOString().replace(/(\.000)?Z$/, '')

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(timezone, format)
  return format
}
