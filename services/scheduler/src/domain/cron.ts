import { CronError, cronFields } from '@windlass/domain/cron'
import { Cron } from 'croner'

/**
 * Compiles a cron expression of five fields, six with the seconds in last place, or a nickname. Fixed
 * times fire once right after a daylight-saving gap and once in a fold, at the first occurrence;
 * wildcards follow elapsed time. Throws CronError, with a message for the user, if the expression is
 * invalid or never fires.
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

/** Translates a field into the library's syntax: `L5` is `5#L`. */
const translate = (text: string): string =>
  text
    .split(',')
    .map((item) => item.replace(/^l([0-7])$/, '$1#L').replace(/^l$/, 'L'))
    .join(',')
