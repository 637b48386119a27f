import { argumentsOf } from '../python/arguments.ts'
import { constantOf } from '../python/constants.ts'
import { calledPaths, type Expression, followNames, pathsOf } from '../python/expression.ts'

/** Date and time as written: wall clock with its offset or zone, if given. */
export interface DateTime {
  /** RFC 3339 without offset. */
  clock: string
  /** `Z`, `+02:00`, or empty. */
  offset: string
  /** IANA name, or empty. */
  zone: string
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?(Z|[+-]\d\d:\d\d)?$/
const UTC = new Set(['datetime.timezone.utc', 'datetime.UTC'])
const PARTS = ['year', 'month', 'day', 'hour', 'minute', 'second', 'microsecond']
/** Parameters of `timedelta` in positional order, and the seconds of each. */
const SECONDS_OF = new Map([
  ['days', 86_400],
  ['seconds', 1],
  ['microseconds', 0.000_001],
  ['milliseconds', 0.001],
  ['minutes', 60],
  ['hours', 3_600],
  ['weeks', 604_800],
])

/**
 * Reads `datetime(…)`, `datetime.fromisoformat("…")` or an ISO 8601 string; undefined for anything
 * else.
 */
export function readDateTime(expression: Expression): DateTime | undefined {
  const here = followNames(expression)
  const text = constantOf(here)
  if (typeof text === 'string') return parseIso(text)
  const paths = calledPaths(here)
  if (paths.includes('datetime.datetime')) return readConstructor(here)
  if (!paths.includes('datetime.datetime.fromisoformat')) return undefined
  const [only, ...others] = argumentsOf(here).positional
  const iso = only && others.length === 0 ? constantOf(only) : undefined
  return typeof iso === 'string' ? parseIso(iso) : undefined
}

function parseIso(text: string): DateTime | undefined {
  const [, ...parts] = ISO.exec(text) ?? []
  const offset = parts.pop()
  const micro = parts.pop()?.padEnd(6, '0')
  const numbers = [...parts, micro].map((digits) => Number(digits ?? 0))
  return parts.length > 0 ? toDateTime(numbers, { offset: offset ?? '', zone: '' }) : undefined
}

function readConstructor(call: Expression): DateTime | undefined {
  const { positional, keywords, isIncomplete } = argumentsOf(call)
  if (isIncomplete || positional.length > PARTS.length) return undefined
  const zone = keywords.get('tzinfo')
  const place = zone ? readZone(zone) : { offset: '', zone: '' }
  const given = PARTS.map((name, i) => positional[i] ?? keywords.get(name))
  const numbers = given.map((value) => (value ? constantOf(value) : 0))
  const whole = numbers.every((value) => Number.isInteger(value))
  return whole && place ? toDateTime(numbers as number[], place) : undefined
}

/**
 * Reads `timezone.utc`, `UTC`, `ZoneInfo("Europe/Oslo")`, `timezone(timedelta(hours=2))`, or None.
 */
function readZone(zone: Expression): Pick<DateTime, 'offset' | 'zone'> | undefined {
  const here = followNames(zone)
  if (constantOf(here) === null) return { offset: '', zone: '' }
  if (pathsOf(here).some((path) => UTC.has(path))) return { offset: 'Z', zone: '' }
  const called = calledPaths(here)
  const [only] = called.length > 0 ? argumentsOf(here).positional : []
  if (!only) return undefined
  if (called.includes('zoneinfo.ZoneInfo')) {
    const name = constantOf(only)
    return typeof name === 'string' && isZone(name) ? { offset: '', zone: name } : undefined
  }
  return called.includes('datetime.timezone') ? readFixedOffset(only) : undefined
}

/** Reads `timedelta(hours=2)`, in seconds; undefined if it is not constant. */
export function readTimedelta(delta: Expression): number | undefined {
  const here = followNames(delta)
  if (!calledPaths(here).includes('datetime.timedelta')) return undefined
  const { positional, keywords, isIncomplete } = argumentsOf(here)
  const units = [...SECONDS_OF.keys()]
  const given = [...positional.map((value, i) => [units[i] ?? '', value] as const), ...keywords]
  let seconds = 0
  for (const [unit, value] of given)
    seconds += Number(constantOf(value) ?? Number.NaN) * (SECONDS_OF.get(unit) ?? Number.NaN)
  return isIncomplete || Number.isNaN(seconds) ? undefined : seconds
}

function readFixedOffset(delta: Expression): Pick<DateTime, 'offset' | 'zone'> | undefined {
  const seconds = readTimedelta(delta)
  const minutes = seconds === undefined ? Number.NaN : seconds / 60
  if (!Number.isInteger(minutes) || Math.abs(minutes) >= 1440) return undefined
  const two = (n: number) => String(n).padStart(2, '0')
  const size = Math.abs(minutes)
  const sign = minutes < 0 ? '-' : '+'
  return { offset: `${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`, zone: '' }
}

/** Builds a date and time; undefined for days and hours that do not exist. */
function toDateTime(
  [year = 0, month = 0, day = 0, ...time]: number[],
  place: Pick<DateTime, 'offset' | 'zone'>,
): DateTime | undefined {
  const [hour = 0, minute = 0, second = 0, micro = 0] = time
  const at = new Date(0)
  at.setUTCFullYear(year, month - 1, day)
  at.setUTCHours(hour, minute, second)
  const clock = Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 19)
  const two = (n: number) => String(n).padStart(2, '0')
  const wanted = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`
  if (year < 1 || clock !== wanted || micro < 0 || micro > 999_999) return undefined
  return { clock: micro ? `${clock}.${String(micro).padStart(6, '0')}` : clock, ...place }
}

/** True for the name of a time zone. Offsets and the zone of this machine are not names. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name) || name.toLowerCase() === 'local') return false
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}
