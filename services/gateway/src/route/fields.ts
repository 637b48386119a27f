import {
  callOf,
  NAME_PATTERNS,
  namespaceOf,
  plainNameOf,
  scheduleNameOf,
  workflowNameOf,
} from '@windlass/domain/names'
import { MAX_PRIORITY } from '@windlass/domain/priority'
import { parseTags, problemOfTags, type Tags } from '@windlass/domain/tags'
import { Fault, type Problem, unprocessable } from '@windlass/runtime/faults'
import { parseId } from '@windlass/runtime/ids'
import { z } from 'zod'

/**
 * A path parameter: its schema for the documents, and its reader, which throws the Fault for a
 * wrong value.
 */
export interface Param<T = string> {
  schema: z.ZodType
  read(text: string): T
  /** The parameter may contain slashes. */
  spans?: boolean
}

/** 32 hex digits, with or without dashes. */
const ID_PATTERN = '^[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}$'

const absent = () => new Fault('not_found', 'Not Found')

/** A name that does not match the grammar cannot exist, so it is not found. */
const nameParam = (grammar: (text: string) => string | undefined, pattern: string): Param => ({
  schema: z.string().meta({ wire: { type: 'string', pattern } }),
  read(text) {
    const name = grammar(text)
    if (name === undefined) throw absent()
    return name
  },
})

export const idParam = nameParam(parseId, ID_PATTERN)

/** Readers of path parameters by name, unless a route declares its own. */
export const PARAMS: Record<string, Param> = {
  namespace: nameParam(namespaceOf, NAME_PATTERNS.namespace),
  workflow_name: nameParam(workflowNameOf, NAME_PATTERNS.workflow),
  name: nameParam(plainNameOf, NAME_PATTERNS.plain),
  execution_id: idParam,
  nested_id: idParam,
  other_id: idParam,
  task_call_id: { ...nameParam(callOf, NAME_PATTERNS.call), spans: true },
  task_name: { ...nameParam(callOf, NAME_PATTERNS.call), spans: true },
  schedule_id: nameParam((text) => parseId(text) ?? scheduleNameOf(text), NAME_PATTERNS.label),
}

const MAX_VERSION = 2_147_483_647

/** A version number in the path, under this name. */
export const versionParam = (name: string): Param<number> => ({
  schema: z.int().min(1),
  read(text) {
    if (!/^\d+$/.test(text) || Number(text) < 1)
      throw unprocessable({ loc: ['path', name], msg: 'must be 1 or more', type: 'int_parsing' })
    return Math.min(Number(text), MAX_VERSION)
  },
})

/** One of the given words; another one is `invalid` with this message. */
export const oneOf = <const Word extends string>(
  words: readonly Word[],
  message: string,
): Param<Word> => ({
  schema: z.enum(words),
  read(text) {
    if (!(words as readonly string[]).includes(text)) throw new Fault('invalid', message)
    return text as Word
  },
})

/** An integer in a query, with its limits; larger numbers than JavaScript can represent are clamped. */
export const integer = (limits: { min: number; max?: number }) =>
  z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform((text) => Math.min(Number(text), Number.MAX_SAFE_INTEGER))
    .pipe(
      z
        .number()
        .min(limits.min)
        .max(limits.max ?? Number.MAX_SAFE_INTEGER),
    )
    .meta({ wire: { type: 'integer', minimum: limits.min, maximum: limits.max } })

/** Objects of one page of a list. */
export const MAX_PAGE = 1_000

export const page = {
  limit: integer({ min: 1, max: MAX_PAGE }).default(50),
  offset: integer({ min: 0 }).default(0),
}

export const versionQuery = integer({ min: 1 })
  .transform((number) => Math.min(number, MAX_VERSION))
  .optional()

/** Level in the ready queue of an execution that is started; the description names the default. */
export const priorityQuery = (description: string) =>
  integer({ min: 0, max: MAX_PRIORITY }).optional().describe(description)

export const flag = z
  .stringbool({
    truthy: ['true', '1', 'yes', 'on', 'y', 't'],
    falsy: ['false', '0', 'no', 'off', 'n', 'f'],
  })
  .meta({ wire: { type: 'boolean' } })

/** Tags as `key=value,key=value`; none without. */
export const tags = z
  .string()
  .transform((given, context): Tags => {
    const parsed = parseTags(given)
    const problem = parsed ? problemOfTags(parsed) : 'must be key=value,key=value'
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
    return parsed ?? {}
  })
  .prefault('')
  .meta({ wire: { type: 'string' } })

/** RFC 3339 with an offset or Z. */
export const time = z.iso
  .datetime({ offset: true })
  .transform((given) => new Date(given))
  .optional()

/** A duration in seconds. */
export const seconds = z
  .string()
  .regex(/^\d+(\.\d+)?$/, 'must be a number of seconds')
  .transform(Number)
  .pipe(z.number().max(86_400))
  .meta({ wire: { type: 'number', minimum: 0, maximum: 86_400 } })

/** Text that fits a database column and a log line. */
export const text = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => !/\p{Cc}|\p{Cs}/u.test(value), 'must not hold control characters')
    .meta({ wire: { type: 'string', pattern: NAME_PATTERNS.text } })

/** A name in a filter, in NFC as names are stored; none without. */
export const nameFilter = text(255)
  .transform((given) => given.normalize('NFC'))
  .meta({ wire: { type: 'string', pattern: NAME_PATTERNS.text } })
  .default('')

/** Text by name. A protobuf map is a plain object, which would lose `__proto__` silently. */
export const dictionary = (name: z.ZodString, value: z.ZodString) =>
  z.preprocess(
    (given, context) => {
      if (typeof given === 'object' && given !== null && Object.hasOwn(given, '__proto__'))
        context.addIssue({
          code: 'custom',
          path: ['__proto__'],
          message: 'is not a name for a label',
        })
      return given
    },
    z.record(name, value),
  )

/** Text of several lines. */
export const prose = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => !/\0|\p{Cs}/u.test(value), 'must not hold NUL or half a character')
    .meta({ wire: { type: 'string', pattern: NAME_PATTERNS.prose } })

/** An id in any of its formats, as 32 hex digits. */
export const id = z
  .string()
  .refine((given) => parseId(given) !== undefined, 'must be an id of 32 hex digits')
  .meta({ wire: { type: 'string', pattern: ID_PATTERN } })
  .transform((given) => parseId(given) ?? '')

/** Further problems of the same value would make the refusal larger than the request. */
const MAX_PROBLEMS = 50

/** Converts the problems of a value to the format of a 422 body. */
export function problemsOf(where: string, error: z.ZodError): [Problem, ...Problem[]] {
  const problems = error.issues.slice(0, MAX_PROBLEMS).map((issue): Problem => {
    const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
    const keys = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
    return {
      loc: [where, ...(issue.path as (string | number)[]), ...keys],
      msg: isMissing ? 'Field required' : issue.message,
      type: isMissing ? 'missing' : issue.code,
    }
  })
  return problems as [Problem, ...Problem[]]
}
