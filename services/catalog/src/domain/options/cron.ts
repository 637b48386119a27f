interface Field {
  least: number
  most: number
  names: string[]
  /** What else stands for days: any, the last one, the last or n-th of a weekday. */
  dayWord?: RegExp
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const DAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ')
const MACROS = ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually']

const WEEKDAY = new RegExp(`^(\\?|L[0-7]|([0-7]|${DAYS.join('|')})#[1-5])$`, 'i')

/** In the order in which they are written. */
const FIELDS: Field[] = [
  { least: 0, most: 59, names: [] },
  { least: 0, most: 23, names: [] },
  { least: 1, most: 31, names: [], dayWord: /^(\?|L)$/i },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 7, names: DAYS, dayWord: WEEKDAY },
  { least: 0, most: 59, names: [] },
]
const MAX_CHARS = 256
const MAX_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether a text is a cron expression: five fields, a sixth with seconds in last place, or `@daily` and its like. */
export function isCron(expression: string): boolean {
  if (expression.length > MAX_CHARS) return false
  const trimmed = expression.trim()
  if (MACROS.includes(trimmed.toLowerCase())) return true
  const parts = trimmed.split(/[ \t]+/)
  const known = parts.length >= 5 && parts.length <= FIELDS.length
  return known && parts.every((part, i) => fits(part, FIELDS[i] as Field)) && mayFire(parts)
}

/** A plain day of the month must exist in one of the plain months, unless the weekday can match too. */
function mayFire([, , day = '*', month = '*', weekday = '*']: string[]): boolean {
  if (!/^\d+$/.test(day) || !/^\d+$/.test(month) || !/^[*?]$/.test(weekday)) return true
  return Number(day) <= (MAX_DAYS[Number(month) - 1] ?? 0)
}

const fits = (text: string, field: Field): boolean =>
  text.split(',').every((item) => field.dayWord?.test(item) || itemFits(item, field))

function itemFits(item: string, field: Field): boolean {
  const [range = '', step, ...rest] = item.split('/')
  if (rest.length > 0 || (step !== undefined && !isStep(step, field))) return false
  if (range === '*') return true
  const [from, to, ...others] = range.split('-').map((text) => valueIn(text, field))
  if (from === undefined || others.length > 0) return false
  return range.includes('-') ? to !== undefined && from <= to : true
}

const isStep = (text: string, { most }: Field) => /^[1-9]\d?$/.test(text) && Number(text) <= most

function valueIn(text: string, { least, most, names }: Field): number | undefined {
  const named = names.indexOf(text.toUpperCase())
  if (named >= 0) return named + least
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? value : undefined
}
