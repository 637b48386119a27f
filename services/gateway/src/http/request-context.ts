import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '@windlass/runtime/faults'

const REQUEST_ID = /^[\w.:+/=-]{1,128}$/

/** One request and its answer, from the first byte to the line in the log. */
export class RequestContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The caller's X-Request-Id, if it is fit for headers and logs, else one of our own. */
  readonly id: string
  readonly startedAt = performance.now()
  readonly path: string
  /** What follows the question mark; empty for none. */
  readonly search: string
  /** The declared path that it matched, for the log. */
  route: string | undefined
  /** Goes out with the answer, whatever that will be. */
  readonly responseHeaders: string[] = []
  #closed: AbortController | undefined

  constructor(req: IncomingMessage, res: ServerResponse) {
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

  /** The client has gone, or was answered. */
  get isClosed(): boolean {
    return this.res.writableEnded || this.res.destroyed || this.req.socket.destroyed
  }

  /** Aborts when the client leaves before it was answered, or the server stops waiting for it. */
  get signal(): AbortSignal {
    if (!this.#closed) {
      const leaving = new AbortController()
      this.#closed = leaving
      const left = () => leaving.abort(new Fault('unavailable', 'the client has left'))
      if (this.isClosed) left()
      else this.res.once('close', left)
    }
    return this.#closed.signal
  }

  /** Ends what waits for something that would outlast the server. */
  abort(reason: Fault): void {
    this.#closed?.abort(reason)
  }
}

/** How often a header was sent; Node shows the first of some, and joins others. */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let times = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === name) times++
  return times
}
