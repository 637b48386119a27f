import type { ServerUnaryCall } from '@grpc/grpc-js'
import type { Caller } from '@windlass/domain/caller'
import { headerText, type RpcAuthorizer } from './authorizer.ts'
import {
  CALLER_HEADER,
  type Call,
  CLIENT_ADDRESS_HEADER,
  REQUEST_ID_HEADER,
  SERVICE_TOKEN_HEADER,
  TRACEPARENT_HEADER,
} from './call.ts'

const NEVER = new AbortController().signal

/**
 * A unary call. Most handlers ignore the signal, so it is created at its first use: grpc-js emits
 * `cancelled` at the end of every call.
 */
export class UnaryCall implements Call {
  readonly service: string
  readonly caller: Caller | undefined
  readonly requestId: string
  readonly clientAddress: string
  readonly traceparent: string | undefined
  readonly #call: ServerUnaryCall<unknown, unknown>

  constructor(call: ServerUnaryCall<unknown, unknown>, admissions: RpcAuthorizer) {
    this.#call = call
    const { metadata } = call
    this.service = admissions.authenticate(headerText(metadata, SERVICE_TOKEN_HEADER))
    this.caller = admissions.authorize(
      call.getPath(),
      this.service,
      headerText(metadata, CALLER_HEADER),
    )
    this.requestId = headerText(metadata, REQUEST_ID_HEADER)
    this.clientAddress = headerText(metadata, CLIENT_ADDRESS_HEADER)
    this.traceparent = headerText(metadata, TRACEPARENT_HEADER)
  }

  /** Unary calls have no message that requests an early answer. */
  readonly answerNow: AbortSignal = NEVER

  /** Unary calls have no receipts. */
  onLost(): void {}

  get signal(): AbortSignal {
    const controller = new AbortController()
    if (this.#call.cancelled) controller.abort()
    else this.#call.once('cancelled', () => controller.abort())
    return controller.signal
  }
}
