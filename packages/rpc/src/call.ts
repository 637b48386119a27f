import { status } from '@grpc/grpc-js'
import type { Caller } from '@windlass/domain/caller'
import type { Kind } from '@windlass/runtime/faults'

type Request<M> = M extends { requestDeserialize: (bytes: Buffer) => infer R } ? R : never
type Response<M> = M extends { responseDeserialize: (bytes: Buffer) => infer R } ? R : never

/** How a Fault crosses the wire: a status code for strangers, and kind and details as JSON in this trailer. */
export const FAULT_TRAILER = 'windlass-fault-bin'

/** The metadata that carries the credential of the service that calls. */
export const SERVICE_TOKEN_HEADER = 'authorization'
/** The metadata that carries the signed statement of who is asking. */
export const CALLER_HEADER = 'windlass-caller'
/** The metadata that carries the id of the request that led to the call. */
export const REQUEST_ID_HEADER = 'windlass-request-id'

export const codes: Record<Kind, status> = {
  invalid: status.INVALID_ARGUMENT,
  unprocessable: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  conflict: status.FAILED_PRECONDITION,
  too_large: status.OUT_OF_RANGE,
  unsupported_media: status.INVALID_ARGUMENT,
  rate_limited: status.RESOURCE_EXHAUSTED,
  misconfigured: status.INTERNAL,
  unavailable: status.UNAVAILABLE,
}

/** The largest gRPC message: a worker's report with the largest payloads in it, or a log that goes with a claim. */
export const MAX_MESSAGE_BYTES = 256 * 1_048_576

export interface Call {
  /** Aborts when the caller hangs up or its deadline passes. */
  readonly signal: AbortSignal
  /** Aborts when the caller would rather have an answer now than a better one later. */
  readonly answerNow: AbortSignal
  /** The service that calls. */
  readonly service: string
  /** On whose behalf, as that service's signed statement says; there is one wherever the rpc asks for it. */
  readonly caller: Caller | undefined
  /** Of the request that led to this call; empty for none. */
  readonly requestId: string
}

/** Who is asking, in a handler of an rpc that asks for a statement. */
export function callerOf({ caller }: Call): Caller {
  if (!caller) throw new Error('an rpc that records its caller asks for no statement of him')
  return caller
}

/** What a service implements: one function per rpc of its generated definition. */
export type Handlers<Service> = {
  [Rpc in keyof Service]: (
    request: Request<Service[Rpc]>,
    call: Call,
  ) => Promise<Response<Service[Rpc]>>
}

export interface CallOptions {
  timeoutMs?: number
  signal?: AbortSignal
  /** Asks for the answer at once, if the server can; unlike `signal`, the answer is still taken. */
  answerNow?: AbortSignal | undefined
  /** On whose behalf: the service vouches for him with a statement for this rpc alone. */
  caller?: Caller
  requestId?: string
}

/** What its callers hold: the same functions. */
export type ClientOf<Service> = {
  [Rpc in keyof Service]: (
    request: Request<Service[Rpc]>,
    options?: CallOptions,
  ) => Promise<Response<Service[Rpc]>>
}
