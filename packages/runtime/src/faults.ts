/** Kinds of refusal. Each edge (gRPC, HTTP) has one table from kinds to its status codes. */
export type Kind =
  | 'invalid'
  | 'unprocessable'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'precondition_failed'
  | 'too_large'
  | 'unsupported_media'
  | 'rate_limited'
  | 'misconfigured'
  | 'unavailable'

/** One invalid part of a request, in the form of a 422 body. */
export interface Problem {
  loc: (string | number)[]
  msg: string
  type: string
}

interface Extra {
  /** Sent to the caller with the message, for example the missing permissions. */
  details?: Record<string, unknown>
  /** For logs; never sent to the caller. */
  cause?: unknown
}

/** The only error whose message reaches callers. It crosses gRPC and arrives as an equal Fault. */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly kind: Kind
  readonly details: Record<string, unknown> | undefined

  constructor(kind: Kind, message: string, { details, cause }: Extra = {}) {
    super(message, { cause })
    this.kind = kind
    this.details = details
  }
}

export const notFound = (what: string, ref: string) =>
  new Fault('not_found', `${what} '${ref}' not found`)

export const conflict = (message: string) => new Fault('conflict', message)

export const invalid = (message: string) => new Fault('invalid', message)

export const unavailable = (message: string, cause?: unknown) =>
  new Fault('unavailable', message, { cause })

/** Refuses parts of a request, each named by its location. */
export const unprocessable = (...problems: [Problem, ...Problem[]]) =>
  new Fault('unprocessable', problems[0].msg, { details: { problems } })
