/** Times and durations as people read them; the exact time is always in a tooltip. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const two = (value: number) => String(value).padStart(2, '0')

/** A duration in milliseconds with three figures at most: `412 ms`, `3.2 s`, `4 m 05 s`, `2 h 10 m`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '–'
  const size = Math.max(0, ms)
  if (size < SECOND) return `${Math.round(size)} ms`
  if (size < 10 * SECOND) return `${(Math.floor(size / 100) / 10).toFixed(1)} s`
  if (size < MINUTE) return `${Math.floor(size / SECOND)} s`
  if (size < HOUR)
    return `${Math.floor(size / MINUTE)} m ${two(Math.floor((size % MINUTE) / SECOND))} s`
  if (size < DAY) return `${Math.floor(size / HOUR)} h ${two(Math.floor((size % HOUR) / MINUTE))} m`
  return `${Math.floor(size / DAY)} d ${Math.floor((size % DAY) / HOUR)} h`
}

/** How long ago, in one unit: `now`, `12 s ago`, `5 m ago`; a time ahead is `in 5 m`. */
export function ago(time: number, now: number): string {
  const difference = now - time
  const size = Math.abs(difference)
  if (size < 2 * SECOND) return 'now'
  const text =
    size < MINUTE
      ? `${Math.floor(size / SECOND)} s`
      : size < HOUR
        ? `${Math.floor(size / MINUTE)} m`
        : size < DAY
          ? `${Math.floor(size / HOUR)} h`
          : `${Math.floor(size / DAY)} d`
  return difference < 0 ? `in ${text}` : `${text} ago`
}

/** A local time to the second: `14:03:09` today, `21 Nov 14:03:09` this year, `2025-11-21 14:03:09` before. */
export function clock(time: number, now: number): string {
  const at = new Date(time)
  const today = new Date(now)
  const text = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  if (at.toDateString() === today.toDateString()) return text
  const month = at.toLocaleString('en', { month: 'short' })
  if (at.getFullYear() === today.getFullYear()) return `${at.getDate()} ${month} ${text}`
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${text}`
}

/** Milliseconds since 1970 of an RFC 3339 time, or undefined for none. */
export function millis(text: string | null | undefined): number | undefined {
  if (!text) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

const KIBI = 1_024
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** A number of bytes in binary units. */
export function bytes(count: number): string {
  let size = count
  let unit = 0
  while (size >= KIBI && unit < UNITS.length - 1) {
    size /= KIBI
    unit++
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`
}

/** A count with thin spaces between thousands. */
export const count = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f')
