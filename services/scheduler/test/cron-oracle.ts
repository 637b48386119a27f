/**
 * Cron by brute force: checks every minute of a period, with the local time of the zone from Intl.
 * Shares no code with the implementation under test.
 */

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440
const NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

interface Parsed {
  minutesOfDay: Uint8Array
  /** True if the calendar day matches. */
  fits(day: Date): boolean
  /** True if minute or hour has a wildcard or step: the expression then follows elapsed time. */
  isWild: boolean
}

/** Ticks after `from` and before `to`, in milliseconds. Supports five fields, `L` and names. */
export function listTicksByBruteForce(
  expression: string,
  timezone: string,
  from: Date,
  to: Date,
): number[] {
  const { minutesOfDay, fits, isWild } = parse(expression)
  const days = new Map<number, boolean>()
  const isNamed = (wall: number) => {
    if (minutesOfDay[((wall % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES] === 0) return false
    const day = Math.floor(wall / DAY_MINUTES)
    const known = days.get(day) ?? fits(new Date(day * DAY_MINUTES * MINUTE_MS))
    days.set(day, known)
    return known
  }
  const ticks: number[] = []
  const first = Math.floor(from.getTime() / MINUTE_MS) - 2 * DAY_MINUTES
  const last = Math.ceil(to.getTime() / MINUTE_MS)
  const offsets = offsetsOf(timezone, first, last)
  let latestWall = first + offsets.at(first) - 1
  for (let minute = first; minute < last; minute++) {
    const wall = minute + offsets.at(minute)
    let fires = isNamed(wall)
    if (!isWild) {
      // A repeated local time has fired already.
      if (wall <= latestWall) fires = false
      // Local times in a gap fire right after it.
      for (let left = latestWall + 1; left < wall; left++) fires ||= isNamed(left)
    }
    latestWall = Math.max(latestWall, wall)
    const at = minute * MINUTE_MS
    if (fires && at > from.getTime() && at < to.getTime()) ticks.push(at)
  }
  return ticks
}

/** Offset from UTC in minutes, for each minute. */
function offsetsOf(timezone: string, first: number, last: number) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    timeZoneName: 'longOffset',
  })
  const read = (minute: number) => {
    const text = format.format(new Date(minute * MINUTE_MS))
    const [, sign = '+', hours = '0', minutes = '0'] = /GMT(?:([+-])(\d+):(\d+))?$/.exec(text) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  }
  const QUARTER = 15
  const size = Math.ceil((last - first) / QUARTER) + 1
  const start = Math.floor(first / QUARTER) * QUARTER
  const table = new Int16Array(size)
  const DAY = DAY_MINUTES / QUARTER
  // All clock changes are at quarters of an hour. Days without a change are read once.
  for (let i = 0; i < size; i += DAY) {
    const here = read(start + i * QUARTER)
    const isSame = here === read(start + Math.min(i + DAY, size - 1) * QUARTER)
    for (let j = i; j < Math.min(i + DAY, size); j++)
      table[j] = isSame ? here : read(start + j * QUARTER)
  }
  return { at: (minute: number) => table[Math.floor((minute - start) / QUARTER)] ?? 0 }
}

function parse(expression: string): Parsed {
  const [minute = '', hour = '', dom = '', month = '', dow = ''] = expression
    .toLowerCase()
    .split(' ')
  const minutesOfDay = new Uint8Array(DAY_MINUTES)
  for (const h of valuesOf(hour, 0, 23))
    for (const m of valuesOf(minute, 0, 59)) minutesOfDay[h * 60 + m] = 1
  const isLast = dom === 'l'
  const days = isLast ? new Set<number>() : new Set(valuesOf(dom, 1, 31))
  const months = new Set(valuesOf(month, 1, 12))
  const weekdays = new Set(valuesOf(dow, 0, 7).map((day) => day % 7))
  return {
    minutesOfDay,
    isWild: /[*/]/.test(minute + hour),
    fits(day) {
      if (!months.has(day.getUTCMonth() + 1)) return false
      const tomorrow = new Date(day.getTime() + DAY_MINUTES * MINUTE_MS)
      const ofMonth = isLast ? tomorrow.getUTCDate() === 1 : days.has(day.getUTCDate())
      const ofWeek = weekdays.has(day.getUTCDay())
      if (dom !== '*' && dow !== '*') return ofMonth || ofWeek
      return ofMonth && ofWeek
    },
  }
}

function valuesOf(field: string, min: number, max: number): number[] {
  return field.split(',').flatMap((item) => {
    const [range = '', step = '1'] = item.split('/')
    const number = (text: string) => (NAMES.includes(text) ? NAMES.indexOf(text) : Number(text))
    const [low, high] = range === '*' ? [min, max] : range.split('-').map(number)
    const end = high ?? (item.includes('/') ? max : low)
    const values: number[] = []
    for (let value = low as number; value <= (end as number); value += Number(step))
      values.push(value)
    return values
  })
}

export const ZONES = [
  ...['America/New_York', 'America/St_Johns', 'America/Sao_Paulo', 'America/Santiago'],
  ...['America/Havana', 'America/Asuncion', 'Europe/London', 'Europe/Berlin', 'Europe/Dublin'],
  ...['Europe/Chisinau', 'Africa/Cairo', 'Africa/Casablanca', 'Antarctica/Troll', 'Asia/Beirut'],
  ...['Asia/Gaza', 'Asia/Kathmandu', 'Asia/Tehran', 'Australia/Lord_Howe', 'Pacific/Chatham'],
  'Pacific/Apia',
]

export const FIXED = [
  ...['30 2 * * *', '30 1 * * *', '0 0 * * *', '15 0,2,3 * * *', '45 1-3 * * *', '59 23 * * *'],
  ...['0 3 29 2 *', '30 2 * * 0', '0 0 13 * 5', '5 4 1-7 * 1', '0 0 1 1 *', '30 0 L * *'],
]

export const WILD = [
  '0 * * * *',
  '*/45 */2 * * *',
  '*/20 1-3 * * *',
  '0 0-23/3 * * *',
  '30 */6 * * SUN',
]

/** Quarters of an hour at which the offset of a zone changes, in milliseconds. */
export function listOffsetChanges(timezone: string, from: Date, to: Date): number[] {
  const [first, last] = [from.getTime() / MINUTE_MS, to.getTime() / MINUTE_MS]
  const offsets = offsetsOf(timezone, first, last)
  const changes: number[] = []
  for (let minute = first + 15; minute < last; minute += 15)
    if (offsets.at(minute) !== offsets.at(minute - 15)) changes.push(minute * MINUTE_MS)
  return changes
}
