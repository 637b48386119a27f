import { StatusError } from '@windlass/api-client/errors'
import { backoffMs } from '../live/backoff.ts'
import { SESSION_ENDED } from './session-ended.ts'

/** While changes continue, the time between two requests grows to so many times. */
const MAX_LONGER = 4
/** Without a change for so many times as long, changes have paused. */
const PAUSES = 8
/** A request for a change waits so many times as long as the last one took, and at most so long for that. */
const SHARE = 20
const MAX_SHARE_MS = 10_000

/** Statuses of answers that a repeated request does not change. */
const isFinal = (error: unknown) =>
  error instanceof StatusError && [400, 401, 403, 404, 422].includes(error.status)

/**
 * Repeats a request at intervals, on changes, or both. Requests never overlap, none is sent while the page
 * is hidden, and they slow down after failures.
 */
export class Poll {
  readonly #load: (signal: AbortSignal) => Promise<void>
  readonly #fail: (error: Error) => void
  readonly #every: () => number | undefined
  readonly #afterFailureMs: number
  readonly #stopped = new AbortController()
  #timer: number | undefined
  #failures = 0
  #retryAfterMs: number | undefined
  #running = false
  #repeat = false
  #endedAt = Number.NEGATIVE_INFINITY
  /** Time at which a change requires the next request. */
  #dueAt: number | undefined
  /** Milliseconds of the last request. */
  #tookMs = 0
  /** Requests for changes one after the other, without a pause. */
  #inRow = 0

  /**
   * `every` returns the milliseconds between two requests; undefined: no requests by time. A request that
   * failed is repeated after `afterFailureMs` or more, even if a stream announces changes and requests are
   * a minute apart.
   */
  constructor(
    load: (signal: AbortSignal) => Promise<void>,
    fail: (error: Error) => void,
    every: () => number | undefined,
    afterFailureMs = 0,
  ) {
    this.#load = load
    this.#fail = fail
    this.#every = every
    this.#afterFailureMs = afterFailureMs
    document.addEventListener('visibilitychange', this.#onVisibility)
    this.now()
  }

  readonly #onVisibility = () => {
    const isBehind = this.#dueAt !== undefined || this.#every() !== undefined
    if (document.hidden) clearTimeout(this.#timer)
    else if (isBehind) this.now()
    else this.plan()
  }

  now(): void {
    if (this.#running) this.#repeat = true
    else void this.#run()
  }

  /**
   * Reads once more because of a change, not sooner than `gapMs` after the last answer: later while changes continue
   * without a pause, and while the server takes long.
   */
  soon(gapMs: number): void {
    const now = performance.now()
    if (now - this.#endedAt > PAUSES * gapMs) this.#inRow = 0
    const gap = Math.max(
      gapMs * Math.min(MAX_LONGER, Math.max(1, (this.#inRow + 1) / 2)),
      Math.min(MAX_SHARE_MS, SHARE * this.#tookMs),
    )
    // A request in flight may have been answered before the change.
    const from = this.#running ? now : this.#endedAt
    const at = Math.max(now, from + gap)
    this.#dueAt = Math.min(at, this.#dueAt ?? at)
    this.plan()
  }

  /** Sets the time of the next request, after a change of the conditions for it. */
  plan(): void {
    if (this.#running || this.#stopped.signal.aborted) return
    clearTimeout(this.#timer)
    if (this.#repeat) return void this.#run()
    const at = this.#nextAt()
    if (at === undefined || document.hidden) return
    this.#timer = window.setTimeout(() => this.now(), Math.max(0, at - performance.now()))
  }

  #nextAt(): number | undefined {
    // A request that failed for a temporary reason is repeated, even if nothing is polled.
    if (this.#failures > 0) {
      const { failures, retryAfterMs } = {
        failures: this.#failures,
        retryAfterMs: this.#retryAfterMs,
      }
      return this.#endedAt + Math.max(this.#afterFailureMs, backoffMs({ failures, retryAfterMs }))
    }
    const every = this.#every()
    const byTime = every === undefined ? Number.POSITIVE_INFINITY : this.#endedAt + every
    const at = Math.min(byTime, this.#dueAt ?? Number.POSITIVE_INFINITY)
    return at === Number.POSITIVE_INFINITY ? undefined : at
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer)
    this.#running = true
    this.#repeat = false
    if (this.#dueAt !== undefined) this.#inRow++
    this.#dueAt = undefined
    const begunAt = performance.now()
    const { signal } = this.#stopped
    try {
      await this.#load(signal)
      this.#failures = 0
    } catch (error) {
      if (signal.aborted) return
      this.#onFailure(error)
    } finally {
      this.#running = false
      this.#endedAt = performance.now()
      this.#tookMs = this.#endedAt - begunAt
    }
    this.plan()
  }

  #onFailure(error: unknown): void {
    const status = error instanceof StatusError ? error.status : undefined
    if (status === 401) window.dispatchEvent(new Event(SESSION_ENDED))
    this.#failures = isFinal(error) ? 0 : this.#failures + 1
    this.#retryAfterMs = error instanceof StatusError ? error.retryAfterMs : undefined
    this.#fail(error as Error)
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility)
    clearTimeout(this.#timer)
    this.#stopped.abort()
  }
}
