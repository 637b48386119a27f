import { Cron } from 'croner'

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?$/i

/**
 * Parses an ISO 8601 date and time, to the millisecond. Without an offset it is local time in
 * `timezone`; in a daylight-saving gap or fold it is treated like a fixed cron time. Returns
 * undefined for any other text.
 */
export function parseTime(text: string, timezone: string): Date | undefined {
  const match = ISO.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const ms = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const parts = [year, month, day, hour, minute, second] as Parts
  const utc = utcOf(parts)
  if (utc === undefined) return undefined
  const offset = match[8]
  const moment = offset === undefined ? localToUtc(parts, timezone) : utc - offsetMs(offset)
  return moment === undefined ? undefined : new Date(moment + ms)
}

type Parts = [number, number, number, number, number, number]

/** Undefined if a part is out of range, such as 30 February or 24:00. */
function utcOf([year, month, day, hour, minute, second]: Parts): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  const same =
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute &&
    date.getUTCSeconds() === second
  return same ? date.getTime() : undefined
}

function offsetMs(offset: string): number {
  if (offset.length === 1) return 0
  const [hours, minutes] = [offset.slice(1, 3), offset.slice(-2)].map(Number) as [number, number]
  return (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

function localToUtc([year, ...rest]: Parts, timezone: string): number | undefined {
  if (year < 1) return undefined
  const [month, day, hour, minute, second] = rest
  const pattern = `${second} ${minute} ${hour} ${day} ${month} * ${year}`
  const cron = new Cron(pattern, { timezone, mode: '7-part', fixedTimeRule: 'no-wildcard' })
  const from = new Date(Date.UTC(year, month - 1, day) - 2 * 86_400_000)
  return cron.nextRun(from)?.getTime()
}
