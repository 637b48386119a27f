import { RequestTimeoutError } from './errors.ts'

/** Aborts a request when the time is up or its caller aborts. The clock can be restarted, which AbortSignal.timeout cannot. */
export class TimeLimit {
  readonly signal: AbortSignal
  readonly #timeoutMs: number
  readonly #controller = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(timeoutMs: number, callerSignal: AbortSignal) {
    this.#timeoutMs = timeoutMs
    this.signal = AbortSignal.any([callerSignal, this.#controller.signal])
    this.restart()
  }

  restart(): void {
    clearTimeout(this.#timer)
    const expire = () => this.#controller.abort(new RequestTimeoutError(this.#timeoutMs))
    this.#timer = setTimeout(expire, this.#timeoutMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Ends the request now; without effect on one that has ended. */
  abort(): void {
    this.stop()
    this.#controller.abort()
  }
}
