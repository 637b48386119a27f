import { z } from 'zod'
import { expecting } from './expectations.ts'
import { address, count, flag, number, seconds, table } from './setting-types.ts'

/** A larger number is a mistake and would exceed the range of a timestamp. */
const MAX_DAYS = 36_500
/** Statements that read a log lock all of them. */
const MAX_PARTITIONS = 16
/** `audit_min_age` of the database. */
const MIN_AUDIT_DAYS = 7
/** Timers of Node end at 2^31 ms. */
const MAX_INTERVAL_SECONDS = 2_000_000

/** Fractions are allowed; 0: no limit. */
const days = expecting(
  `a number of days from 0 to ${MAX_DAYS}`,
  number.pipe(z.number().nonnegative().max(MAX_DAYS)),
)

/** `name=days`, separated by commas, as in an environment variable. */
const PAIRS = /^\s*(?:[^=,]+=[^=,]*(?:,|$))*\s*$/

/** Days by name: a table in the file, `name=days, …` or a JSON object in the environment. */
const daysByName = expecting(
  'days by name, as a table, a JSON object or NAME=DAYS, …',
  z
    .union([z.record(z.string().min(1), z.unknown()), z.string().transform(toRecord)])
    .pipe(z.record(z.string().min(1), days)),
).default({})

function toRecord(text: string, context: z.RefinementCtx<string>): Record<string, unknown> {
  const parsed = text.trim().startsWith('{') ? parseObject(text) : parsePairs(text)
  if (parsed) return parsed
  context.addIssue('neither a JSON object nor pairs')
  return z.NEVER
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const parsePairs = (text: string): Record<string, string> | undefined =>
  PAIRS.test(text)
    ? Object.fromEntries(
        text
          .split(',')
          .filter((pair) => pair.trim())
          .map((pair) => pair.split('=').map((part) => part.trim())),
      )
    : undefined

export const interval = expecting(
  `a number of seconds greater than 0, up to ${MAX_INTERVAL_SECONDS}`,
  seconds.pipe(z.number().max(MAX_INTERVAL_SECONDS)),
)

/** Ages and numbers above which rows are deleted. Off by default: everything is kept. */
export const retention = table({
  enabled: flag.default(false),
  /** Age of a finished execution, since its end, at which it is deleted with its log and its approvals. */
  retention_days: days.default(30),
  /**
   * Used instead of `retention_days`, by namespace and by workflow (`namespace/name`), which takes
   * precedence.
   */
  namespaces: daysByName,
  workflows: daysByName,
  /**
   * Maximum number of finished executions; the oldest are deleted first, whatever their age. 0: any number.
   */
  max_executions: count.default(0),
  /** Age at which the log of a finished execution is deleted, except for its last event. 0: with the execution. */
  log_days: days.default(0),
  /** Partitions of the log, and of captured lines, over `retention_days`, which are dropped instead of deleting their rows. 0: none. */
  log_partitions: expecting(
    `a whole number from 0 to ${MAX_PARTITIONS}`,
    count.pipe(z.int().max(MAX_PARTITIONS)),
  ).default(8),
  /** Age at which a decided approval of a finished execution is deleted. 0: with the execution. */
  approval_days: days.default(0),
  /** Age at which a settled tick of a schedule is deleted; the newest of each schedule stays. 0: never. */
  tick_days: days.default(0),
  /**
   * Age at which entries of the audit log are deleted, once a day, with a signed checkpoint. The database refuses to delete
   * younger ones than seven days. 0: never.
   */
  audit_days: expecting(
    `0, or a number of days from ${MIN_AUDIT_DAYS} to ${MAX_DAYS}`,
    days.pipe(z.number().refine((value) => value === 0 || value >= MIN_AUDIT_DAYS)),
  ).default(0),
  sweep_interval: interval.default(3600),
  /** Rows in one transaction. */
  batch_size: expecting(
    'a whole number from 1 to 10000',
    count.pipe(z.int().min(1).max(10_000)),
  ).default(500),
})

/** Store to which finished executions are written before retention deletes them. */
export const archive = table({
  /** `s3://BUCKET/PREFIX`, or a file:// URL or absolute path of a directory; empty: none. */
  url: z
    .string()
    .regex(/^$|^s3:\/\/[^/]+|^file:\/\/\/|^\//, 'must be s3://BUCKET/PREFIX, or an absolute path')
    .default(''),
  /** URL of an S3-compatible server; unset: Amazon's. */
  endpoint: address.optional(),
  region: z.string().min(1).default('us-east-1'),
  /** Both, or none: then the client uses the credentials of its environment. */
  access_key_id: z.string().min(1).optional(),
  secret_access_key: z.string().min(1).optional(),
})
