import { describeDetail } from './describe-detail.ts'

/** An argument that no request can be built from; nothing was sent. The message is complete, for people and agents. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError'
}

/** The server answered with a status other than 2xx. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly status: number
  /** The body as it came. */
  readonly body: string
  /** Wait that the server requested with Retry-After, in milliseconds; undefined: none. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, body: string, retryAfter?: string | null) {
    super(`HTTP error: ${status} - ${body}`)
    this.status = status
    this.body = body
    this.retryAfterMs = toRetryAfterMs(retryAfter ?? '')
  }

  /** The server's reason as a sentence, or undefined if the body is not an error of the API. */
  get detail(): string | undefined {
    return describeDetail(this.body)
  }
}

/** No connection to the server could be made, or it broke before the answer was complete. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** True if no connection was made, so the request has had no effect. */
  readonly hasSentNothing: boolean

  constructor(message: string, hasSentNothing = false) {
    super(message)
    this.hasSentNothing = hasSentNothing
  }
}

/** The server sent nothing for the time that the request allows. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError'

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs / 1_000} seconds`)
  }
}

/** The answer breaks the API's guarantees: it is not JSON, is too large, or lacks a member. */
export class ResponseError extends Error {
  override readonly name: string = 'ResponseError'
}

/** The certificate of the server was refused; nothing was sent. */
export class CertificateError extends ResponseError {
  override readonly name = 'CertificateError'
  /** True if no trusted authority has signed it; false if it has expired or is of another host. */
  readonly isUntrusted: boolean

  constructor(message: string, isUntrusted: boolean) {
    super(message)
    this.isUntrusted = isUntrusted
  }
}

const MAX_RETRY_AFTER_S = 3_600

/** Reads the number of seconds; the API sends no dates. */
const toRetryAfterMs = (text: string) =>
  /^\d{1,9}$/.test(text) ? Math.min(Number(text), MAX_RETRY_AFTER_S) * 1_000 : undefined
