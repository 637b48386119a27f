import { Fault, unprocessable } from '@windlass/runtime/faults'
import type { z } from 'zod'
import { JsonText } from '../domain/views.ts'
import { discardBody, hasBody, readBody } from '../http/read-body.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type BodyLimits, type BodySize, sizeLimit } from './body-sizes.ts'
import type { ObjectText, ReaderName, ReaderResult } from './body-task.ts'
import { problemsOf } from './fields.ts'

/** Type of a request body and how it is read. */
export interface Body<T = unknown> {
  type: 'none' | 'application/json' | 'multipart/form-data'
  /** Size class of a JSON body. */
  size?: BodySize
  /** For the documents; absent: any JSON value. */
  schema?: z.ZodType
  optional?: boolean
  read(ctx: RequestContext, limits: BodyLimits): Promise<T>
}

export const noBody: Body<undefined> = { type: 'none', read: async () => undefined }

/** Any JSON value as checked text; an empty body is `null`. */
export const anyJson: Body<string> = {
  type: 'application/json',
  size: 'payload',
  optional: true,
  read: async (ctx, limits) =>
    (await readJson(ctx, limits, { reader: 'text', size: 'payload' })) ?? 'null',
}

/** A body that `read` splits into slices of the checked text; `schema` is for the documents. */
export const jsonSlices = <T, S extends z.ZodType>(
  schema: S,
  read: (text: string) => T,
): Body<T> => ({
  type: 'application/json',
  size: 'names',
  schema,
  read: async (ctx, limits) =>
    read((await readJson(ctx, limits, { reader: 'text', size: 'names' })) ?? required()),
})

/** A body that contains payloads: a payload that is accepted as an input is accepted here. */
export const workerReport = <N extends ReaderName, S extends z.ZodType>(
  schema: S,
  reader: N,
): Body<ReaderResult<N>> => ({
  type: 'application/json',
  size: 'report',
  schema,
  read: async (ctx, limits) =>
    (await readJson(ctx, limits, { reader, size: 'report' })) ?? required(),
})

interface ObjectOptions {
  size?: BodySize
  /** Members that stay text and may have any content, duplicate members included. */
  payloads?: readonly string[]
  /** Members that stay text. */
  texts?: readonly string[]
}

/** An object of known members. */
export const json = <S extends z.ZodType>(
  schema: S,
  options: ObjectOptions = {},
): Body<z.output<S>> => {
  const { read, ...body } = optionalJson(schema, options)
  return {
    ...body,
    optional: false,
    read: async (ctx, limits) => (await read(ctx, limits)) ?? required(),
  }
}

/** The same, but the body may be absent. */
export const optionalJson = <S extends z.ZodType>(
  schema: S,
  {
    payloads = [],
    texts = [],
    size = payloads.length > 0 ? 'payload' : 'control',
  }: ObjectOptions = {},
): Body<z.output<S> | undefined> => ({
  type: 'application/json',
  size,
  schema,
  optional: true,
  async read(ctx, limits) {
    const members = { payloads, texts }
    const object = await readJson(ctx, limits, { reader: 'object', size, members })
    return object && parse(schema, object)
  },
})

function parse<S extends z.ZodType>(schema: S, object: ObjectText): z.output<S> {
  const result = schema.safeParse(toValue(object))
  if (!result.success) throw unprocessable(...problemsOf('body', result.error))
  return result.data
}

function toValue({ text, kept = [], parsed = [] }: ObjectText): unknown {
  if (text !== undefined) return JSON.parse(text)
  return Object.fromEntries([
    ...kept.map(([name, raw]) => [name, new JsonText(raw)]),
    ...parsed.map(([name, raw]) => [name, JSON.parse(raw)]),
  ])
}

const required = (): never => {
  throw unprocessable({ loc: ['body'], msg: 'Field required', type: 'missing' })
}

interface ReadOptions<N extends ReaderName> {
  reader: N
  size: BodySize
  members?: { payloads: readonly string[]; texts: readonly string[] }
}

/** Reads a JSON body; undefined without one. */
async function readJson<N extends ReaderName>(
  ctx: RequestContext,
  limits: BodyLimits,
  { size, ...task }: ReadOptions<N>,
): Promise<ReaderResult<N> | undefined> {
  if (!hasBody(ctx)) return undefined
  requireJsonType(ctx)
  const limit = sizeLimit(size, limits)
  const bytes = await readBody(ctx, limit.maxBytes)
  return bytes.length === 0 ? undefined : limits.parser.parse(bytes, { ...task, limit })
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
