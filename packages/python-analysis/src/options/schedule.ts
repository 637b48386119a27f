import { CronError, cronFields } from '@windlass/domain/cron'
import { isOverlapPolicy, OVERLAP_POLICIES } from '@windlass/domain/overlap'
import { type Arguments, argumentsOf } from '../python/arguments.ts'
import { constantOf } from '../python/constants.ts'
import { calleeOf, type Expression, followNames } from '../python/expression.ts'
import { sdkPaths } from '../sdk-names.ts'
import { type DateTime, isZone, readDateTime, readTimedelta } from './date-times.ts'
import { type Option, optionFault, requireNumber, requireText } from './option.ts'

/** Declared schedule, in the form that the schedule routes accept as `schedule_config`. */
export type ScheduleConfig = Record<string, string | number>

interface ScheduleKind {
  /** Parameter names in positional order. */
  parameters: string[]
  read(given: ScheduleArguments): ScheduleConfig
}

interface ScheduleArguments {
  self: Option
  get(name: string): Option | undefined
  getRequired(name: string): Option
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

const INTERVAL_PARAMETERS = [
  ...Object.keys(SECONDS),
  'timezone',
  'start_time',
  'end_time',
  'overlap',
]

const INTERVAL_CLASS: ScheduleKind = { parameters: INTERVAL_PARAMETERS, read: readInterval }

/** The SDK's functions and classes. */
const KINDS = new Map<string, ScheduleKind>([
  ['cron', { parameters: ['expression', 'timezone', 'overlap'], read: readCron }],
  ['CronSchedule', { parameters: ['cron_expression', 'timezone', 'overlap'], read: readCron }],
  ['interval', { parameters: INTERVAL_PARAMETERS, read: readInterval }],
  ['IntervalSchedule', INTERVAL_CLASS],
  ['once', { parameters: ['run_time', 'timezone', 'overlap'], read: readOnce }],
  ['OnceSchedule', { parameters: ['run_time', 'timezone', 'overlap'], read: readOnce }],
])

/** `IntervalSchedule(timedelta(hours=1), "UTC")`. */
const TIMEDELTA_INTERVAL: ScheduleKind = {
  parameters: ['interval', 'timezone', 'start_time', 'end_time', 'overlap'],
  read: readTimedeltaInterval,
}

/** Reads `schedule=`; undefined for None. */
export function readSchedule(option: Option, sdkModules: string[]): ScheduleConfig | undefined {
  if (constantOf(option.value) === null) return undefined
  const call = followNames(option.value)
  const kind = findKind(call, sdkModules)
  if (!kind) throw optionFault(option, 'it must be a call of cron, interval or once, written out')
  const written = argumentsOf(call)
  const form = kind === INTERVAL_CLASS && takesTimedelta(written) ? TIMEDELTA_INTERVAL : kind
  const given = bindArguments(option, form, written)
  const overlap = readOverlap(given.get('overlap'))
  return { ...form.read(given), ...(overlap && { overlap }) }
}

const takesTimedelta = ({ positional: [first], keywords }: Arguments): boolean =>
  keywords.has('interval') || (first !== undefined && readTimedelta(first) !== undefined)

function findKind(call: Expression, sdkModules: string[]): ScheduleKind | undefined {
  const called = calleeOf(call)
  const paths = called ? sdkPaths(called, sdkModules) : []
  return paths.map((path) => KINDS.get(path.slice(path.lastIndexOf('.') + 1))).find(Boolean)
}

function bindArguments(
  option: Option,
  { parameters }: ScheduleKind,
  given: Arguments,
): ScheduleArguments {
  const { positional, keywords, isIncomplete } = given
  if (isIncomplete) throw optionFault(option, 'it must be written out')
  const unknown = [...keywords.keys()].find((name) => !parameters.includes(name))
  if (unknown !== undefined || positional.length > parameters.length) {
    throw optionFault(option, `it does not take ${unknown ? `'${unknown}'` : 'so many arguments'}`)
  }
  const get = (name: string): Option | undefined => {
    const value = keywords.get(name) ?? positional[parameters.indexOf(name)]
    const isNone = !value || constantOf(value) === null
    return isNone ? undefined : { ...option, name: `schedule.${name}`, value }
  }
  const getRequired = (name: string): Option => {
    const found = get(name)
    if (!found) throw optionFault(option, `it requires '${name}'`)
    return found
  }
  return { self: option, get, getRequired }
}

function readCron({ get, getRequired }: ScheduleArguments): ScheduleConfig {
  const expression = get('cron_expression') ?? getRequired('expression')
  const cron_expression = requireText(expression)
  try {
    cronFields(cron_expression)
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    throw optionFault(expression, `it ${shorten(error.message)}`)
  }
  return { type: 'cron', cron_expression, timezone: readTimezone(get('timezone')) }
}

const shorten = (message: string) => (message.length > 80 ? `${message.slice(0, 80)}…` : message)

function readInterval(given: ScheduleArguments): ScheduleConfig {
  let interval_seconds = 0
  for (const [unit, seconds] of Object.entries(SECONDS)) {
    const option = given.get(unit)
    if (option) interval_seconds += requireNumber(option) * seconds
  }
  return toInterval(given, interval_seconds)
}

function readTimedeltaInterval(given: ScheduleArguments): ScheduleConfig {
  const option = given.getRequired('interval')
  const interval_seconds = readTimedelta(option.value)
  if (interval_seconds === undefined) throw optionFault(option, 'it must be a constant timedelta')
  return toInterval(given, interval_seconds)
}

function toInterval({ self, get }: ScheduleArguments, interval_seconds: number): ScheduleConfig {
  if (!(interval_seconds >= MIN_INTERVAL_SECONDS && interval_seconds <= MAX_INTERVAL_SECONDS)) {
    throw optionFault(self, `an interval is ${MIN_INTERVAL_SECONDS} second to 10 years`)
  }
  const zone = readTimezone(get('timezone'))
  const times = ['start_time', 'end_time'].flatMap((name) => {
    const option = get(name)
    return option ? [[name, readInZone(option, zone)]] : []
  })
  return { type: 'interval', interval_seconds, timezone: zone, ...Object.fromEntries(times) }
}

function readOnce({ get, getRequired }: ScheduleArguments): ScheduleConfig {
  const option = getRequired('run_time')
  const { clock, offset, zone } = requireDateTime(option)
  return {
    type: 'once',
    run_time: `${clock}${offset}`,
    timezone: zone || readTimezone(get('timezone')),
  }
}

function requireDateTime(option: Option): DateTime {
  const found = readDateTime(option.value)
  if (!found) throw optionFault(option, 'it must be a constant date and time')
  return found
}

/** Reads a time in the schedule's zone: a time in another zone must state its offset. */
function readInZone(option: Option, timezone: string): string {
  const { clock, offset, zone } = requireDateTime(option)
  if (zone && zone !== timezone) throw optionFault(option, `it must be in UTC or in ${timezone}`)
  return `${clock}${offset}`
}

function readTimezone(option: Option | undefined): string {
  if (!option) return 'UTC'
  const name = requireText(option)
  if (!isZone(name)) throw optionFault(option, `'${name.slice(0, 60)}' is not a time zone`)
  return name
}

function readOverlap(option: Option | undefined): string | undefined {
  if (!option) return undefined
  const overlap = requireText(option)
  if (!isOverlapPolicy(overlap))
    throw optionFault(option, `it must be one of ${OVERLAP_POLICIES.join(', ')}`)
  return overlap
}
