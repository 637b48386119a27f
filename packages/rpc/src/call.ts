import { status } from '@grpc/grpc-js'
import type { Caller } from '@windlass/domain/caller'
import type { Kind } from '@windlass/runtime/faults'

type Request<M> = M extends { requestDeserialize: (bytes: Buffer) => infer R } ? R : never
type Response<M> = M extends { responseDeserialize: (bytes: Buffer) => infer R } ? R : never

/**
 * Trailer with kind and details of a Fault as JSON; gRPC clients that do not read it see only the status
 * code.
 */
export const FAULT_TRAILER = 'windlass-fault-bin'

/** Metadata key of the service token of the calling service. */
export const SERVICE_TOKEN_HEADER = 'authorization'
/** Metadata key of the on-behalf-of token. */
export const CALLER_HEADER = 'windlass-caller'
/** Metadata key of the id of the HTTP request that led to the call. */
export const REQUEST_ID_HEADER = 'windlass-request-id'
export const CLIENT_ADDRESS_HEADER = 'windlass-client-address'
/** Metadata key of the W3C trace context. */
export const TRACEPARENT_HEADER = 'traceparent'
/** Metadata key that a client sets on a stream of calls if it confirms responses on request. */
export const RECEIPTS_HEADER = 'windlass-receipts'

/** Metadata key of the release, in both directions of a stream of calls. */
export const VERSION_HEADER = 'windlass-version'
/** Metadata key of the time at which the process of the server started, in milliseconds since 1970. */
export const STARTED_HEADER = 'windlass-started'

/** Path of the standard health check. */
export const HEALTH_CHECK_PATH = '/grpc.health.v1.Health/Check'

export const codes: Record<Kind, status> = {
  invalid: status.INVALID_ARGUMENT,
  unprocessable: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  conflict: status.FAILED_PRECONDITION,
  precondition_failed: status.FAILED_PRECONDITION,
  too_large: status.OUT_OF_RANGE,
  unsupported_media: status.INVALID_ARGUMENT,
  rate_limited: status.RESOURCE_EXHAUSTED,
  misconfigured: status.INTERNAL,
  unavailable: status.UNAVAILABLE,
}

/**
 * Limit of one gRPC message, for the largest messages: a checkpoint with large payloads, or the log that
 * answers a claim.
 */
export const MAX_MESSAGE_BYTES = 256 * 1_048_576

export interface Call {
  /** Aborts when the client cancels the call or its deadline passes. */
  readonly signal: AbortSignal
  /**
   * Aborts when the client requests an early answer, with whatever is available. Never aborts in a unary
   * call.
   */
  readonly answerNow: AbortSignal
  /**
   * Calls `run` if the caller has not received the response about a second after it was sent, because the
   * client hangs, is gone or has given up. For responses that transfer ownership of something, such as a
   * lease. Never called for unary calls and clients of earlier releases.
   */
  onLost(run: () => void): void
  /** Name of the calling service. */
  readonly service: string
  /** Principal of the on-behalf-of token; present in every rpc whose policy requires a caller. */
  readonly caller: Caller | undefined
  /** Id of the HTTP request that led to this call; empty for none. */
  readonly requestId: string
  /** Network address of the client of that request; empty for none. */
  readonly clientAddress: string
  /** W3C `traceparent` of the calling span; absent: the call is not traced. */
  readonly traceparent?: string | undefined
}

/** Returns the principal in a handler whose policy requires one; throws if the policy does not. */
export function callerOf({ caller }: Call): Caller {
  if (!caller) throw new Error('this handler needs a caller: declare its rpc with allowOnBehalfOf')
  return caller
}

/** Implementation of a service: one function per rpc of its generated definition. */
export type Handlers<Service> = {
  [Rpc in keyof Service]: (
    request: Request<Service[Rpc]>,
    call: Call,
  ) => Promise<Response<Service[Rpc]>>
}

export interface CallOptions {
  timeoutMs?: number
  signal?: AbortSignal
  /**
   * Requests an early answer. Unlike `signal`, it does not cancel the call: the response is still
   * delivered.
   */
  answerNow?: AbortSignal | undefined
  /** Principal on whose behalf the call is made; sent as a token that is valid for this rpc only. */
  caller?: Caller
  requestId?: string
  /** W3C `traceparent` of the request that makes the call; absent: it is not traced. */
  traceparent?: string | undefined
  clientAddress?: string
}

/** Client of a service: the functions of its definition. */
export type ClientOf<Service> = {
  [Rpc in keyof Service]: (
    request: Request<Service[Rpc]>,
    options?: CallOptions,
  ) => Promise<Response<Service[Rpc]>>
}
