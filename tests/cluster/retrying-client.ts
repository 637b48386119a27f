import { setTimeout as pause } from 'node:timers/promises'
import { call, type HttpResponse, type RequestOptions } from '@windlass/testkit/http'

const RETRY_FOR_MS = 30_000
const FIRST_DELAY_MS = 100
const MAX_DELAY_MS = 2_000

/** An attempt that was repeated, or an answer that the rules do not repeat. */
export interface Failure {
  /** Milliseconds of `performance.now()`. */
  at: number
  what: string
}

/**
 * A client that follows the rules of docs/python/client.md: 429, 503 and lost connections are repeated with
 * backoff, or as `Retry-After` says, for 30 s. All its requests are safe to repeat: reads, and runs with an
 * Idempotency-Key.
 */
export class RetryingClient {
  /** Attempts that were repeated. */
  readonly repeated: Failure[] = []
  /** Failures that a user of the client would see. */
  readonly errors: Failure[] = []
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** Sends a request. Returns the answer; undefined if it is an error, which is recorded. */
  async send(
    method: string,
    path: string,
    sent: RequestOptions = {},
  ): Promise<HttpResponse | undefined> {
    const ask = () => call(method, this.#url + path, sent)
    const answer = await this.repeat(`${method} ${path}`, ask)
    if (!answer || answer.status === 200) return answer
    this.error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return undefined
  }

  /** Repeats `ask` by the rules. Returns undefined when the time is over, which is recorded as an error. */
  async repeat<T extends Pick<HttpResponse, 'status' | 'headers'>>(
    name: string,
    ask: () => Promise<T>,
  ): Promise<T | undefined> {
    const until = performance.now() + RETRY_FOR_MS
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      const answer = await ask().catch((error: Error) => error)
      if (!(answer instanceof Error) && answer.status !== 429 && answer.status !== 503)
        return answer
      const what = `${name}: ${answer instanceof Error ? answer.message : answer.status}`
      this.repeated.push({ at: performance.now(), what })
      const asked = answer instanceof Error ? 0 : Number(answer.headers['retry-after'] ?? 0) * 1_000
      const waitMs = asked || delayMs * (0.5 + Math.random() / 2)
      if (performance.now() + waitMs > until) {
        this.error(what)
        return undefined
      }
      await pause(waitMs)
    }
  }

  error(what: string): void {
    this.errors.push({ at: performance.now(), what })
  }
}
