import { CronError, cronFields } from '@windlass/domain/cron'
import { isOverlapPolicy, OVERLAP_POLICIES } from '@windlass/domain/overlap'
import { type Arguments, argumentsOf } from '../python/arguments.ts'
import { constantOf } from '../python/constants.ts'
import { calleeOf, type Expression, follow } from '../python/expression.ts'
import { sdkPaths } from '../sdk-names.ts'
import { isZone, type Moment, momentOf } from './date-times.ts'
import { number, type Option, refuse, text } from './option.ts'

/** A declared schedule, in the form that the schedule routes take as `schedule_config`. */
export type ScheduleConfig = Record<string, string | number>

interface Kind {
  /** What may be given, in the order in which it may be given without a name. */
  parameters: string[]
  read(given: Given): ScheduleConfig
}

interface Given {
  self: Option
  get(name: string): Option | undefined
  need(name: string): Option
}

const SECONDS: Record<string, number> = {
  seconds: 1,
  minutes: 60,
  hours: 3_600,
  days: 86_400,
  weeks: 604_800,
}
const MIN_INTERVAL_SECONDS = 1
const MAX_INTERVAL_SECONDS = 10 * 366 * 86_400

const KINDS = new Map<string, Kind>(
  Object.entries({
    cron: { parameters: ['expression', 'timezone'], read: cron },
    interval: {
      parameters: [...Object.keys(SECONDS), 'timezone', 'start_time', 'end_time'],
      read: interval,
    },
    once: { parameters: ['run_time', 'timezone'], read: once },
  }),
)

/** What every kind takes, by name only. */
const BY_NAME = ['overlap']

/** What `schedule=` declares; undefined for None. */
export function scheduleOf(option: Option, sdkModules: string[]): ScheduleConfig | undefined {
  if (constantOf(option.value) === null) return undefined
  const call = follow(option.value)
  const kind = kindOf(call, sdkModules)
  if (!kind) throw refuse(option, 'it must be a call of cron, interval or once, written out')
  const given = givenTo(option, kind, argumentsOf(call))
  const overlap = overlapOf(given.get('overlap'))
  return { ...kind.read(given), ...(overlap && { overlap }) }
}

function kindOf(call: Expression, sdkModules: string[]): Kind | undefined {
  const called = calleeOf(call)
  const paths = called ? sdkPaths(called, sdkModules) : []
  return paths.map((path) => KINDS.get(path.slice(path.lastIndexOf('.') + 1))).find(Boolean)
}

function givenTo(option: Option, { parameters }: Kind, given: Arguments): Given {
  const { positional, keywords, incomplete } = given
  if (incomplete) throw refuse(option, 'it must be written out')
  const known = [...parameters, ...BY_NAME]
  const unknown = [...keywords.keys()].find((name) => !known.includes(name))
  if (unknown !== undefined || positional.length > parameters.length) {
    throw refuse(option, `it does not take ${unknown ? `'${unknown}'` : 'so many arguments'}`)
  }
  const get = (name: string): Option | undefined => {
    const value = keywords.get(name) ?? positional[parameters.indexOf(name)]
    const isNone = !value || constantOf(value) === null
    return isNone ? undefined : { ...option, name: `schedule.${name}`, value }
  }
  const need = (name: string): Option => {
    const found = get(name)
    if (!found) throw refuse(option, `it lacks '${name}'`)
    return found
  }
  return { self: option, get, need }
}

function cron({ get, need }: Given): ScheduleConfig {
  const expression = need('expression')
  const cron_expression = text(expression)
  try {
    cronFields(cron_expression)
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    throw refuse(expression, `it ${shortly(error.message)}`)
  }
  return { type: 'cron', cron_expression, timezone: timezone(get('timezone')) }
}

const shortly = (message: string) => (message.length > 80 ? `${message.slice(0, 80)}…` : message)

function interval({ self, get }: Given): ScheduleConfig {
  let interval_seconds = 0
  for (const [unit, seconds] of Object.entries(SECONDS)) {
    const option = get(unit)
    if (option) interval_seconds += number(option) * seconds
  }
  if (!(interval_seconds >= MIN_INTERVAL_SECONDS && interval_seconds <= MAX_INTERVAL_SECONDS)) {
    throw refuse(self, `an interval is ${MIN_INTERVAL_SECONDS} second to 10 years`)
  }
  const zone = timezone(get('timezone'))
  const times = ['start_time', 'end_time'].flatMap((name) => {
    const option = get(name)
    return option ? [[name, inZone(option, zone)]] : []
  })
  return { type: 'interval', interval_seconds, timezone: zone, ...Object.fromEntries(times) }
}

function once({ get, need }: Given): ScheduleConfig {
  const option = need('run_time')
  const { clock, offset, zone } = moment(option)
  return {
    type: 'once',
    run_time: `${clock}${offset}`,
    timezone: zone || timezone(get('timezone')),
  }
}

function moment(option: Option): Moment {
  const found = momentOf(option.value)
  if (!found) throw refuse(option, 'it must be a constant date and time')
  return found
}

/** A schedule has one zone; a time of it in another would have to say its offset. */
function inZone(option: Option, timezone: string): string {
  const { clock, offset, zone } = moment(option)
  if (zone && zone !== timezone) throw refuse(option, `it must be in UTC or in ${timezone}`)
  return `${clock}${offset}`
}

function timezone(option: Option | undefined): string {
  if (!option) return 'UTC'
  const name = text(option)
  if (!isZone(name)) throw refuse(option, `'${name.slice(0, 60)}' is not a time zone`)
  return name
}

function overlapOf(option: Option | undefined): string | undefined {
  if (!option) return undefined
  const overlap = text(option)
  if (!isOverlapPolicy(overlap))
    throw refuse(option, `it must be one of ${OVERLAP_POLICIES.join(', ')}`)
  return overlap
}
