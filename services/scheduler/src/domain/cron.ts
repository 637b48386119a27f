import { CronError, cronFields } from '@windlass/runtime/cron'
import { Cron } from 'croner'

/** The last value of each field, in the order in which they are written. */
const LAST = [59, 23, 31, 12, 6, 59]

/**
 * A cron expression of ours: five fields, a sixth with seconds in last place, or a nickname. In
 * daylight-saving gaps fixed times fire once right after it, in folds once, at the first; wildcards
 * follow elapsed time. Throws CronError, with a message for the user, for what is none or never fires.
 */
export function compile(expression: string, timezone: string): Cron {
  const [minute, hour, dayOfMonth, month, dayOfWeek, second = '0'] =
    cronFields(expression).map(translate)
  const pattern = [second, minute, hour, dayOfMonth, month, dayOfWeek].join(' ')
  try {
    return new Cron(pattern, { timezone, mode: '6-part', fixedTimeRule: 'no-wildcard' })
  } catch (error) {
    throw new CronError((error as Error).message.replace(/^CronPattern: /, ''))
  }
}

/** Says a field as the library does: `L5` is `5#L`, `5/15` is `5-59/15`. */
const translate = (text: string, position: number): string =>
  text
    .split(',')
    .map((item) =>
      item
        .replace(/^l([0-7])$/, '$1#L')
        .replace(/^l$/, 'L')
        .replace(/^(\w+)\//, `$1-${LAST[position]}/`),
    )
    .join(',')
