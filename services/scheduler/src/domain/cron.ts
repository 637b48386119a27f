import { CronError, cronFields } from '@windlass/domain/cron'
import { Cron } from 'croner'

/**
 * A cron expression of ours: five fields, a sixth with seconds in last place, or a nickname. In
 * daylight-saving gaps fixed times fire once right after it, in folds once, at the first; wildcards
 * follow elapsed time. Throws CronError, with a message for the user, for what is none or never fires.
 */
export function compileCron(expression: string, timezone: string): Cron {
  const [minute, hour, dayOfMonth, month, dayOfWeek, second = '0'] =
    cronFields(expression).map(translate)
  const pattern = [second, minute, hour, dayOfMonth, month, dayOfWeek].join(' ')
  try {
    return new Cron(pattern, { timezone, mode: '6-part', fixedTimeRule: 'no-wildcard' })
  } catch (error) {
    throw new CronError((error as Error).message.replace(/^CronPattern: /, ''))
  }
}

/** Says a field as the library does: `L5` is `5#L`. */
const translate = (text: string): string =>
  text
    .split(',')
    .map((item) => item.replace(/^l([0-7])$/, '$1#L').replace(/^l$/, 'L'))
    .join(',')
