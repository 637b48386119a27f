import { Cron } from 'croner'

const MAX_CHARS = 256
const VALUE = String.raw`(?:\d{1,2}|[a-z]{3})`
const ITEM = String.raw`(?:\*|${VALUE}(?:-${VALUE})?)(?:/\d{1,2})?`
const listOf = (item: string) => new RegExp(`^(?:${item})(?:,(?:${item}))*$`, 'i')

const PLAIN = listOf(ITEM)
const DAY_OF_MONTH = listOf(String.raw`\?|L|${ITEM}`)
const DAY_OF_WEEK = listOf(String.raw`\?|L[0-7]|${VALUE}#[1-5]|${ITEM}`)

/** In the order in which they are written; seconds, where given, come last. */
const FIELDS = [
  { name: 'minute', form: PLAIN, max: 59 },
  { name: 'hour', form: PLAIN, max: 23 },
  { name: 'day of month', form: DAY_OF_MONTH, max: 31 },
  { name: 'month', form: PLAIN, max: 12 },
  { name: 'day of week', form: DAY_OF_WEEK, max: 6 },
  { name: 'second', form: PLAIN, max: 59 },
] as const

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
 * A cron expression of ours: five fields, a sixth with seconds in last place, or a nickname. In
 * daylight-saving gaps fixed times fire once right after it, in folds once, at the first; wildcards
 * follow elapsed time. Throws CronError, with a message for the user, for what is none.
 */
export function compile(expression: string, timezone: string): Cron {
  if (expression.length > MAX_CHARS) throw new CronError(`is longer than ${MAX_CHARS} characters`)
  const written = expression.trim().toLowerCase()
  const fields = (NICKNAMES.get(written) ?? written).split(/[ \t]+/)
  if (fields.length !== 5 && fields.length !== 6)
    throw new CronError('must have five fields, or six with seconds in last place')
  const [minute, hour, dayOfMonth, month, dayOfWeek, second = '0'] = fields.map(translate)
  const pattern = [second, minute, hour, dayOfMonth, month, dayOfWeek].join(' ')
  try {
    return new Cron(pattern, { timezone, mode: '6-part', fixedTimeRule: 'no-wildcard' })
  } catch (error) {
    throw new CronError((error as Error).message.replace(/^CronPattern: /, ''))
  }
}

/** Checks the form of a field and says it as the library does: `L5` is `5#L`, `5/15` is `5-59/15`. */
function translate(text: string, position: number): string {
  const field = FIELDS[position]
  if (!field?.form.test(text)) throw new CronError(`has no valid ${field?.name}: '${text}'`)
  return text
    .split(',')
    .map((item) =>
      item
        .replace(/^l([0-7])$/, '$1#L')
        .replace(/^l$/, 'L')
        .replace(/^(\w+)\//, `$1-${field.max}/`),
    )
    .join(',')
}
