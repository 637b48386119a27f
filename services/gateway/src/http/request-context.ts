import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '@windlass/runtime/faults'
import type { BodyReservation } from '@windlass/runtime/http/body-budget'
import type { AnswerSize } from '@windlass/runtime/http/unread-answers'

const REQUEST_ID = /^[\w.:+/=-]{1,128}$/

/** One request and its response, from the first byte to its log line. */
export class RequestContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The caller's X-Request-Id if it is safe in headers and logs, else a generated one. */
  readonly id: string
  readonly startedAt = performance.now()
  readonly path: string
  /** Query without the question mark; empty for none. */
  readonly search: string
  /** Network address of the client, as proxies that are trusted report it. */
  clientAddress = ''
  /** W3C trace context of the span of the request; undefined if it is not traced. */
  traceparent: string | undefined
  /** The declared path that matched, for the log. */
  route: string | undefined
  /** Execution that the request starts or resumes, for the audit log. */
  executionId: string | undefined
  /** Headers of the response, whatever its status. */
  readonly responseHeaders: string[] = []
  /** Counts the answer until the client has read it; throws `unavailable` for too many. */
  countUnread: (answer: AnswerSize) => void = () => {}
  /** Ends a response in progress without loss when the server stops, instead of `abort`. */
  endOnStop: (() => void) | undefined
  /** Memory that the body of the request is accounted for. */
  bodyReservation: BodyReservation | undefined
  #closed: AbortController | undefined
  #stopped: AbortController | undefined

  /** Called once the request is authorized. */
  readonly onAuthorized: () => void

  constructor(req: IncomingMessage, res: ServerResponse, onAuthorized = () => {}) {
    this.onAuthorized = onAuthorized
    this.req = req
    this.res = res
    const { url = '/' } = req
    const question = url.indexOf('?')
    this.path = question < 0 ? url : url.slice(0, question)
    this.search = question < 0 ? '' : url.slice(question + 1)
    const given = req.headers['x-request-id']
    this.id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
  }

  get headers(): IncomingHttpHeaders {
    return this.req.headers
  }

  /** The first value of a header. */
  header(name: string): string | undefined {
    const value = this.req.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  /** True once the client has disconnected or the response has ended. */
  get isClosed(): boolean {
    return this.res.writableEnded || this.res.destroyed || this.req.socket.destroyed
  }

  /** Aborts when the client disconnects before the response has ended, or when the server stops. */
  get signal(): AbortSignal {
    if (!this.#closed) {
      const leaving = new AbortController()
      this.#closed = leaving
      const left = () => leaving.abort(new Fault('unavailable', 'the client has left'))
      if (this.isClosed) left()
      else
        this.res.once('close', () => {
          // Nothing waits any more, and an abort would create an error with its stack for every request.
          if (!this.res.writableFinished) left()
        })
    }
    return this.#closed.signal
  }

  /**
   * Aborts when the server stops or the caller is no longer authorized, but not when the client
   * disconnects: for work that continues without a reader.
   */
  get stopSignal(): AbortSignal {
    this.#stopped ??= new AbortController()
    return this.#stopped.signal
  }

  /** Aborts everything that waits for this request. */
  abort(reason: Fault): void {
    this.#closed?.abort(reason)
    this.#stopped?.abort(reason)
  }
}

/** Counts the occurrences of a header; Node keeps the first of some headers, and joins others. */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let times = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === name) times++
  return times
}
