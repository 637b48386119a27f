import { startSharedInterval } from './shared-interval.ts'

const CHECK_MS = 250
/** Time within which bytes that waited in sockets meanwhile are read. */
const CATCH_UP_MS = 1_000

/** Detects that what is read now may have waited because this process was suspended or busy. */
export class StallWatch {
  /** Ends the checks. */
  readonly stop = startSharedInterval(CHECK_MS, () => this.#check())
  #checkedMs = performance.now()
  #catchUpUntilMs = 0

  /** True during and shortly after a time in which this process did not run for half a second. */
  get mayBeLate(): boolean {
    const nowMs = performance.now()
    return nowMs < this.#catchUpUntilMs || this.#wasLate(nowMs)
  }

  #check(): void {
    const nowMs = performance.now()
    if (this.#wasLate(nowMs)) this.#catchUpUntilMs = nowMs + CATCH_UP_MS
    this.#checkedMs = nowMs
  }

  #wasLate(nowMs: number): boolean {
    return nowMs - this.#checkedMs > 2 * CHECK_MS
  }
}
