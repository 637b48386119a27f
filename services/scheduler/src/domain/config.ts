import { CronError } from '@windlass/domain/cron'
import { isOverlapPolicy, OVERLAP_POLICIES, type OverlapPolicy } from '@windlass/domain/overlap'
import { type Problem, unprocessable } from '@windlass/runtime/faults'
import { compileCron } from './cron.ts'
import { parseTime } from './parse-time.ts'
import { nextTick, type Recurrence } from './recurrence.ts'

const MAX_CHARS = 16_384
const MIN_INTERVAL_SECONDS = 1
const MAX_INTERVAL_SECONDS = 10 * 366 * 86_400
const TIMEZONE = /^[A-Za-z0-9_+-]{1,32}(?:\/[A-Za-z0-9_+-]{1,32}){0,2}$/

/**
 * Members of each kind except `type`. `last_run_time` and `executed` are accepted for compatibility
 * and ignored.
 */
const MEMBERS = {
  cron: ['cron_expression', 'timezone', 'overlap'],
  interval: ['interval_seconds', 'timezone', 'start_time', 'end_time', 'last_run_time', 'overlap'],
  once: ['run_time', 'timezone', 'executed', 'overlap'],
} as const

type Kind = keyof typeof MEMBERS
type Config = Map<string, unknown>

/** Parses a schedule configuration. Throws `unprocessable` with the invalid member of `schedule_config`. */
export function parseConfig(json: string): Recurrence {
  const config = membersOf(json)
  const kind = kindOf(config)
  for (const member of config.keys())
    if (member !== 'type' && !MEMBERS[kind].some((known) => known === member))
      throw wrong(member, `is not a member of ${kind} schedules`, 'extra_forbidden')
  overlapOf(config)
  const timezone = timezoneOf(config)
  if (kind === 'cron') return cronOf(config, timezone)
  if (kind === 'interval') return intervalOf(config, timezone)
  return { kind, at: momentIn(config, 'run_time', timezone) ?? missing('run_time') }
}

/** Overlap policy of a configuration that `parseConfig` accepts, or undefined. */
export const parseOverlap = (json: string): OverlapPolicy | undefined => overlapOf(membersOf(json))

/** Time zone of a configuration that `parseConfig` accepts. */
export const parseTimezone = (json: string): string => timezoneOf(membersOf(json))

/** Returns the first tick after `now`. Throws `unprocessable` for a configuration without one. */
export function firstTick(recurrence: Recurrence, now: Date): Date {
  const first = nextTick({ recurrence, anchor: now }, now)
  if (first) return first
  switch (recurrence.kind) {
    case 'once':
      throw wrong('run_time', 'is in the past')
    case 'cron':
      throw wrong('cron_expression', 'never fires')
    case 'interval':
      throw wrong('end_time', 'is before the first firing')
  }
}

function membersOf(json: string): Config {
  if (json.length > MAX_CHARS) throw wrong(undefined, `is longer than ${MAX_CHARS} characters`)
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw wrong(undefined, 'must be JSON', 'json_invalid')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(undefined, 'must be an object', 'dict_type')
  return new Map(Object.entries(value).filter(([, member]) => member !== null))
}

function kindOf(config: Config): Kind {
  const kind = config.get('type') ?? missing('type')
  if (typeof kind === 'string' && Object.hasOwn(MEMBERS, kind)) return kind as Kind
  throw wrong('type', "must be 'cron', 'interval' or 'once'", 'literal_error')
}

function cronOf(config: Config, timezone: string): Recurrence {
  const expression = textIn(config, 'cron_expression') ?? missing('cron_expression')
  try {
    return { kind: 'cron', cron: compileCron(expression, timezone), expression, timezone }
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    throw wrong('cron_expression', error.message)
  }
}

function intervalOf(config: Config, timezone: string): Recurrence {
  const seconds = config.get('interval_seconds') ?? missing('interval_seconds')
  if (typeof seconds !== 'number' || !Number.isFinite(seconds))
    throw wrong('interval_seconds', 'must be a number', 'float_type')
  if (seconds < MIN_INTERVAL_SECONDS || seconds > MAX_INTERVAL_SECONDS) {
    const bounds = `from ${MIN_INTERVAL_SECONDS} to ${MAX_INTERVAL_SECONDS}`
    throw wrong('interval_seconds', `must be ${bounds}`)
  }
  return {
    kind: 'interval',
    every_ms: Math.round(seconds * 1_000),
    start: momentIn(config, 'start_time', timezone),
    end: momentIn(config, 'end_time', timezone),
  }
}

function overlapOf(config: Config): OverlapPolicy | undefined {
  const overlap = config.get('overlap')
  if (overlap === undefined || isOverlapPolicy(overlap)) return overlap
  throw wrong('overlap', `must be one of ${OVERLAP_POLICIES.join(', ')}`, 'literal_error')
}

function timezoneOf(config: Config): string {
  const timezone = textIn(config, 'timezone') ?? 'UTC'
  try {
    if (TIMEZONE.test(timezone)) {
      new Intl.DateTimeFormat('en', { timeZone: timezone })
      return timezone
    }
  } catch {
    // Intl throws for a zone that is not in its database.
  }
  throw wrong('timezone', 'must be an IANA time zone')
}

function momentIn(config: Config, member: string, timezone: string): Date | undefined {
  const text = textIn(config, member)
  if (text === undefined) return undefined
  const moment = parseTime(text, timezone)
  if (!moment) throw wrong(member, 'must be an ISO 8601 date and time', 'datetime_parsing')
  return moment
}

function textIn(config: Config, member: string): string | undefined {
  const value = config.get(member)
  if (value === undefined || typeof value === 'string') return value
  throw wrong(member, 'must be a string', 'string_type')
}

function missing(member: string): never {
  throw wrong(member, 'is required', 'missing')
}

function wrong(member: string | undefined, msg: string, type = 'value_error') {
  const loc: Problem['loc'] = ['body', 'schedule_config', ...(member === undefined ? [] : [member])]
  return unprocessable({ loc, msg: `${loc.slice(1).join('.')} ${msg}`, type })
}
