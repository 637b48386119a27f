/** Every way a call can be refused. Each edge has a table from these to its own numbers. */
export type Kind =
  | 'invalid'
  | 'unprocessable'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media'
  | 'rate_limited'
  | 'misconfigured'
  | 'unavailable'

/** What was wrong with one part of a request; the form of a 422 body. */
export interface Problem {
  loc: (string | number)[]
  msg: string
  type: string
}

interface Extra {
  /** Goes to the caller beside the message, e.g. the permissions that were missing. */
  details?: Record<string, unknown>
  /** For logs; never told to the caller. */
  cause?: unknown
}

/** The only error meant for callers. It crosses gRPC and arrives as the same Fault. */
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

/** Refuses parts of a request, naming each by its place in it. */
export const unprocessable = (...problems: [Problem, ...Problem[]]) =>
  new Fault('unprocessable', problems[0].msg, { details: { problems } })
