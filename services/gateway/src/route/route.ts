import type { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import type { Resolved, Rule, RuleNeeds } from '../access/rules.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { AuditSpec } from './audit-trail.ts'
import { type Body, noBody } from './body.ts'
import { PARAMS, type Param } from './fields.ts'
import { queryReader } from './query.ts'
import type { Reply } from './reply.ts'

export type Shape = Record<string, z.ZodType>
type None = Record<never, never>

export type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never

type Within<Names, Path extends string, Then> = [Names] extends [Placeholders<Path>] ? Then : never

/** An access rule is filled in from the path, so it may name only parameters of the path. */
type Access<A extends string, Path extends string> = A extends Rule
  ? Within<RuleNeeds<A>, Path, A>
  : Within<Placeholders<A>, Path, A>

type PathParams<Path extends string, P> = {
  [Name in Placeholders<Path>]: P extends Record<Name, Param<infer T>> ? T : string
}

interface Input<Path extends string, P, Q extends Shape, B, A> {
  params: PathParams<Path, P>
  query: z.output<z.ZodObject<Q>>
  body: B
  caller: Caller
  /** Result of the access rule. */
  resolved: Resolved<A>
  ctx: RequestContext
}

/** The parts of the input that are known when a request is refused. */
type Known<I extends { body: unknown; resolved: unknown }> = Omit<I, 'body' | 'resolved'> & {
  body: I['body'] | undefined
  resolved: I['resolved'] | undefined
}

interface Spec<A, Path extends string, P, Q extends Shape, B, R extends z.ZodType, Deps> {
  summary: string
  /** `public`, `authenticated`, a permission, or the name of an access rule. */
  access: A
  /** Path parameters for which there is no reader in PARAMS. */
  params?: P
  query?: Q
  /** Headers that the handler reads, for the documents. */
  headers?: Shape
  body?: Body<B>
  returns: R
  /** Status of a success; default 200. */
  status?: 200 | 201
  /** The answer may be an event stream instead. */
  streams?: boolean
  /** Refusals in formats of their own, by status, for the documents. */
  refusals?: Record<number, z.ZodType>
  /** A hot path: matched before Express (http/router.ts). */
  raw?: boolean
  /** A page or a file for browsers, which is not part of the API or its document. */
  isPage?: boolean
  /** May answer long after the request: the caller is authorized again at each heartbeat. */
  waits?: boolean
  /** An expensive read: a principal may do a few of these at a time (access/read-turns.ts). */
  isExpensive?: boolean
  /**
   * The answer depends on path, query and the caller's rights alone: requests of one caller at the same time get one
   * answer, and callers with equal rights an earlier one if they accept its age (cache/shared-answers.ts).
   */
  isShared?: boolean
  /** Sends a refusal in a format of its own; returns true if it did. */
  refuse?(error: unknown, ctx: RequestContext): boolean
  /** Required for every route that changes data. */
  audit?: AuditSpec<Known<Input<Path, P, Q, B, A>>>
  /** `deps` are the clients and caches that this handler names; server.ts provides those of all handlers. */
  handle(input: Input<Path, P, Q, B, A>, deps: Deps): Promise<z.input<R> | Reply>
}

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A declared endpoint, for the server and the documents; only a server provides its `Deps`. */
export interface Route<Deps = never> {
  method: Method
  path: string
  /** Name of its export; unique. */
  operationId?: string
  summary: string
  access: string
  params: Record<string, Param<unknown>>
  query: Shape
  headers?: Shape
  body: Body
  returns: z.ZodType
  status: 200 | 201
  streams?: boolean
  refusals?: Record<number, z.ZodType>
  raw: boolean
  isPage?: boolean
  waits: boolean
  isExpensive?: boolean
  isShared?: boolean
  readQuery(search: string): unknown
  refuse?(error: unknown, ctx: RequestContext): boolean
  audit: AuditSpec | undefined
  // A property and not a method: only then does the compiler refuse a server that lacks some of the
  // deps.
  handle: (input: unknown, deps: Deps) => Promise<unknown>
}

/** Declares an endpoint once: its validation, its access rule, its OpenAPI entry and its handler. */
export function route<
  const Path extends string,
  const A extends string,
  R extends z.ZodType,
  P extends { [Name in Placeholders<Path>]?: Param<unknown> } = None,
  Q extends Shape = None,
  B = undefined,
  Deps = unknown,
>(method: Method, path: Path, spec: Spec<Access<A, Path>, Path, P, Q, B, R, Deps>): Route<Deps> {
  const query: Shape = spec.query ?? {}
  const names = [...path.matchAll(/{(\w+)}/g)].map(([, name = '']) => name)
  const given: Record<string, Param<unknown> | undefined> = spec.params ?? {}
  return {
    raw: false,
    waits: false,
    status: 200,
    ...spec,
    method,
    path,
    query,
    body: spec.body ?? noBody,
    params: Object.fromEntries(names.map((name) => [name, given[name] ?? readerOf(name)])),
    readQuery: queryReader(query),
    audit: spec.audit as AuditSpec | undefined,
    handle: spec.handle as Route<Deps>['handle'],
  }
}

function readerOf(name: string): Param {
  const param = PARAMS[name]
  if (!param) throw new Error(`no reader for the path parameter '${name}'`)
  return param
}
