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

/** Changes since the last request after which others are expected. */
const MANY_CHANGES = 4
/** A request for changes that were too many to be sent counts as so many in a row. */
const SKIPPED_IN_ROW = 3

/** Age of an answer, which the server may give to several consoles. */
export interface AnswerAge {
  /** Greatest age that is accepted, in milliseconds. */
  readonly maxMs: number
  /** Age of the answer, set by the request. */
  ms: number
}

type Load = (signal: AbortSignal, age: AnswerAge) => Promise<void>

/** Statuses of answers that a repeated request does not change. */
const isFinal = (error: unknown) =>
  error instanceof StatusError && [400, 401, 403, 404, 422].includes(error.status)

/**
 * Repeats a request at intervals, on changes, or both. Requests never overlap, none is sent while the page
 * is hidden, and they slow down after failures.
 */
export class Poll {
  readonly #load: Load
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
  /** Time of the state that the last answer shows. */
  #answerAt = Number.NEGATIVE_INFINITY
  /** Time at which a change requires the next request. */
  #dueAt: number | undefined
  /** Time of a request because the last answer is older than the last change, unless further changes require one. */
  #againAt: number | undefined
  #changedAt = Number.NEGATIVE_INFINITY
  /** Gap of the last change, and the number of changes since the last request began. */
  #gapMs = 0
  #changes = 0
  /** True: since the last request began, there were changes that were too many to be sent. */
  #haveSkipped = false
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
    load: Load,
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
    if (document.hidden) clearTimeout(this.#timer)
    else if (this.#isBehind || this.#every() !== undefined) this.now()
    else this.plan()
  }

  now(): void {
    if (this.#running) this.#repeat = true
    else void this.#run()
  }

  /**
   * Reads once more because of a change, not sooner than `gapMs` after the last answer: later while changes continue
   * without a pause, and while the server takes long. `areSkipped`: the changes were too many to be sent.
   */
  soon(gapMs: number, areSkipped = false): void {
    const now = performance.now()
    this.#changedAt = now
    this.#gapMs = gapMs
    this.#changes++
    this.#haveSkipped ||= areSkipped
    this.#againAt = undefined
    if (now - this.#endedAt > PAUSES * gapMs) this.#inRow = 0
    const gap = Math.max(
      gapMs * Math.min(MAX_LONGER, Math.max(1, (this.#inRow + 1) / 2)),
      Math.min(MAX_SHARE_MS, SHARE * this.#tookMs),
    )
    // A request in flight may have been answered before the change.
    const from = this.#running ? now : this.#answerAt
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
    this.#timer = window.setTimeout(
      () => void this.#run(this.#acceptedMs()),
      Math.max(0, at - performance.now()),
    )
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
    const never = Number.POSITIVE_INFINITY
    const at = Math.min(byTime, this.#dueAt ?? never, this.#againAt ?? never)
    return at === never ? undefined : at
  }

  /**
   * Age that the answer to a planned request may have: it must be newer than the last one. An answer from after the last
   * change has all changes; while more are expected, another request follows anyway.
   */
  #acceptedMs(): number {
    if (!this.#isBehind || this.#failures > 0) return 0
    const now = performance.now()
    const gapMs = this.#haveSkipped || this.#changes >= MANY_CHANGES ? this.#gapMs : 0
    return Math.min(now - this.#answerAt, Math.max(now - this.#changedAt, gapMs))
  }

  /** True if a change requires a request. */
  get #isBehind(): boolean {
    return this.#dueAt !== undefined || this.#againAt !== undefined
  }

  async #run(maxMs = 0): Promise<void> {
    clearTimeout(this.#timer)
    this.#running = true
    this.#repeat = false
    if (this.#dueAt !== undefined) this.#inRow += this.#haveSkipped ? SKIPPED_IN_ROW : 1
    this.#dueAt = undefined
    this.#againAt = undefined
    this.#changes = 0
    this.#haveSkipped = false
    const begunAt = performance.now()
    const age = { maxMs, ms: 0 }
    const { signal } = this.#stopped
    try {
      await this.#load(signal, age)
      this.#failures = 0
      // The change came after the answer, and perhaps nothing else follows.
      if (age.ms > 0 && this.#changedAt >= begunAt - age.ms)
        this.#againAt = performance.now() + this.#gapMs
    } catch (error) {
      if (signal.aborted) return
      this.#onFailure(error)
    } finally {
      this.#running = false
      this.#endedAt = performance.now()
      this.#answerAt = this.#endedAt - age.ms
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
