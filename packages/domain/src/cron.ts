interface Field {
  name: string
  least: number
  most: number
  names: string[]
  /** Other forms of days: any day, the last one, the last or n-th of a weekday. */
  word?: RegExp
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAYS = 'sun mon tue wed thu fri sat'.split(' ')

/** In the order in which they are written; seconds, if present, come last. */
const FIELDS: Field[] = [
  { name: 'minute', least: 0, most: 59, names: [] },
  { name: 'hour', least: 0, most: 23, names: [] },
  { name: 'day of month', least: 1, most: 31, names: [], word: /^[?l]$/ },
  { name: 'month', least: 1, most: 12, names: MONTHS },
  {
    name: 'day of week',
    least: 0,
    most: 7,
    names: DAYS,
    word: new RegExp(`^(?:\\?|l[0-7]|(?:[0-7]|${DAYS.join('|')})#[1-5])$`),
  },
  { name: 'second', least: 0, most: 59, names: [] },
]
const LEAST_FIELDS = 5
const MAX_CHARS = 256
const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const NICKNAMES = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
])

export class CronError extends Error {
  override readonly name = 'CronError'
}

/**
 * Parses a cron expression into its fields, in lower case: minute, hour, day of month, month, day of week
 * and, if present, second. Nicknames are expanded, and an open-ended step gets its end. Throws CronError,
 * with a message for the user, for any other text and for a day that no calendar has, such as 30 February.
 */
export function cronFields(expression: string): string[] {
  if (expression.length > MAX_CHARS) throw new CronError(`is longer than ${MAX_CHARS} characters`)
  const written = expression.trim().toLowerCase()
  const texts = (NICKNAMES.get(written) ?? written).split(/[ \t]+/)
  if (texts.length < LEAST_FIELDS || texts.length > FIELDS.length)
    throw new CronError('must have five fields, or six with seconds in last place')
  for (const [i, text] of texts.entries()) {
    const field = FIELDS[i] as Field
    if (!text.split(',').every((item) => isItem(item, field)))
      throw new CronError(`has no valid ${field.name}: '${text}'`)
  }
  if (!hasDay(texts as [string, string, string, string, string])) throw new CronError('never fires')
  return texts.map((text, i) => withEnds(text, FIELDS[i] as Field))
}

/** A value with a step continues to the end of the field: `5/15` is `5-59/15`. */
const withEnds = (text: string, field: Field) =>
  text
    .split(',')
    .map((item) => item.replace(/^(\w+)\//, `$1-${lastOf(field)}/`))
    .join(',')

/** Sunday has two numbers, 0 and 7; only one of them counts. */
const lastOf = ({ names, most }: Field) => (names === DAYS ? 6 : most)

const isItem = (item: string, field: Field) =>
  field.word?.test(item) || valuesOf(item, field) !== undefined

/**
 * True if the calendar has such a day. If both day fields are restricted, either matches, and every month
 * has every weekday.
 */
function hasDay([, , day, month, weekday]: [string, string, string, string, string]): boolean {
  if (!/^[*?]$/.test(weekday)) return true
  const days = day.split(',')
  if (days.some((item) => DAY_OF_MONTH.word?.test(item))) return true
  const first = Math.min(...days.flatMap((item) => valuesOf(item, DAY_OF_MONTH) ?? []))
  const months = month.split(',').flatMap((item) => valuesOf(item, MONTH) ?? [])
  return months.some((one) => first <= (LONGEST_MONTHS[one - 1] ?? 0))
}

const [, , DAY_OF_MONTH, MONTH] = FIELDS as [Field, Field, Field, Field]

/** Values of `*`, `5` or `1-5`, with or without a step; undefined for any other text. */
function valuesOf(item: string, field: Field): number[] | undefined {
  const [range = '', step, ...rest] = item.split('/')
  if (rest.length > 0 || (step !== undefined && !isStep(step, field))) return undefined
  const [from, to] = boundsOf(range, step !== undefined, field) ?? []
  if (from === undefined || to === undefined || from > to) return undefined
  const values: number[] = []
  for (let value = from; value <= to; value += Number(step ?? 1)) values.push(value)
  return values
}

function boundsOf(range: string, steps: boolean, field: Field): (number | undefined)[] | undefined {
  const last = lastOf(field)
  if (range === '*') return [field.least, last]
  const [from, to, ...others] = range.split('-').map((text) => valueIn(text, field))
  if (others.length > 0) return undefined
  return range.includes('-') ? [from, to] : [from, steps ? last : from]
}

const isStep = (text: string, { most }: Field) =>
  /^\d{1,2}$/.test(text) && +text > 0 && +text <= most

function valueIn(text: string, { least, most, names }: Field): number | undefined {
  const named = names.indexOf(text)
  if (named >= 0) return named + least
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? value : undefined
}
