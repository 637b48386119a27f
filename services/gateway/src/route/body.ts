import { Fault, unprocessable } from '@windlass/runtime/faults'
import { findDuplicateMember } from '@windlass/runtime/json/duplicate-members'
import { checkJson, decodeJson, membersOf } from '@windlass/runtime/json/json'
import type { z } from 'zod'
import { repeated } from '../domain/members.ts'
import { JsonText } from '../domain/views.ts'
import { discardBody, hasBody, readBody } from '../http/read-body.ts'
import type { RequestContext } from '../http/request-context.ts'
import { problemsOf } from './fields.ts'

export interface BodyLimits {
  maxBytes: number
  maxDepth: number
  maxUploadBytes: number
}

/** Type of a request body and how it is read. */
export interface Body<T = unknown> {
  type: 'none' | 'application/json' | 'multipart/form-data'
  /** For the documents; absent: any JSON value. */
  schema?: z.ZodType
  optional?: boolean
  read(ctx: RequestContext, limits: BodyLimits): Promise<T>
}

export const noBody: Body<undefined> = { type: 'none', read: async () => undefined }

/** Any JSON value as checked text; an empty body is `null`. */
export const anyJson: Body<string> = {
  type: 'application/json',
  optional: true,
  read: async (ctx, limits) => (await readText(ctx, limits)) ?? 'null',
}

/** A body that `read` splits into slices of the checked text; `schema` is for the documents. */
export const jsonSlices = <T, S extends z.ZodType>(
  schema: S,
  read: (text: string) => T,
): Body<T> => ({
  type: 'application/json',
  schema,
  read: async (ctx, limits) => read((await readText(ctx, limits)) ?? required()),
})

/** Allowance for the members around the payloads in a worker's report. */
const WRAPPING_LEVELS = 16
const WRAPPING_BYTES = 1_048_576
/** Input, output and the events that repeat them. */
const PAYLOADS = 4

/** The same for bodies that contain payloads: a payload that is accepted as an input is accepted here. */
export const workerReport = <T, S extends z.ZodType>(
  schema: S,
  read: (text: string) => T,
): Body<T> => {
  const body = jsonSlices(schema, read)
  const widened = ({ maxBytes, maxDepth, ...rest }: BodyLimits): BodyLimits => ({
    ...rest,
    maxBytes: PAYLOADS * maxBytes + WRAPPING_BYTES,
    maxDepth: maxDepth + WRAPPING_LEVELS,
  })
  return { ...body, read: (ctx, limits) => body.read(ctx, widened(limits)) }
}

interface TextMembers {
  /** Members that stay text and may have any content, duplicate members included. */
  payloads?: readonly string[]
  /** Members that stay text. */
  texts?: readonly string[]
}

/** An object of known members. */
export const json = <S extends z.ZodType>(
  schema: S,
  { payloads = [], texts = [] }: TextMembers = {},
): Body<z.output<S>> =>
  jsonSlices(schema, (text) => {
    requireUniqueMembers(text, payloads)
    const kept = [...payloads, ...texts]
    return parse(schema, kept.length > 0 ? parseKeepingText(text, kept) : JSON.parse(text))
  })

/** The same, but the body may be absent. */
export const optionalJson = <S extends z.ZodType>(schema: S): Body<z.output<S> | undefined> => ({
  type: 'application/json',
  schema,
  optional: true,
  async read(ctx, limits) {
    const text = await readText(ctx, limits)
    if (text === undefined) return undefined
    requireUniqueMembers(text)
    return parse(schema, JSON.parse(text))
  },
})

function requireUniqueMembers(text: string, payloads?: readonly string[]): void {
  const place = findDuplicateMember(text, payloads)
  if (place) throw repeated(['body', ...place])
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value)
  if (!result.success) throw unprocessable(...problemsOf('body', result.error))
  return result.data
}

function parseKeepingText(text: string, kept: readonly string[]): unknown {
  const members = membersOf(text)
  if (!members) return JSON.parse(text)
  const entries = [...members].map(([name, raw]) => [
    name,
    kept.includes(name) ? new JsonText(raw) : JSON.parse(raw),
  ])
  return Object.fromEntries(entries)
}

const required = (): never => {
  throw unprocessable({ loc: ['body'], msg: 'Field required', type: 'missing' })
}

/** Reads the checked text of a JSON body; undefined without one. */
async function readText(ctx: RequestContext, limits: BodyLimits): Promise<string | undefined> {
  if (!hasBody(ctx)) return undefined
  requireJsonType(ctx)
  const bytes = await readBody(ctx, limits.maxBytes)
  if (bytes.length === 0) return undefined
  const text = decodeJson(bytes)
  checkJson(text, limits.maxDepth)
  return text
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i

/**
 * Refuses a body that is not declared as JSON. Without a Content-Type it counts as JSON only if
 * there is no Origin: a web page can send such a request without a preflight.
 */
function requireJsonType(ctx: RequestContext): void {
  const type = ctx.header('content-type')
  if (type === undefined && ctx.header('origin') === undefined) return
  if (type === 'application/json' || (type !== undefined && JSON_TYPE.test(type))) return
  discardBody(ctx)
  throw new Fault(
    'unsupported_media',
    type === undefined
      ? 'Content-Type missing: send application/json'
      : `Content-Type '${type.slice(0, 100)}' is not application/json`,
  )
}
