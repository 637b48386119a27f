import { startSharedInterval } from './shared-interval.ts'

const CHECK_MS = 250
/** Missed checks that mean a stall. */
const MISSED = 2
/** Time within which bytes that waited in sockets meanwhile are read. */
const CATCH_UP_MS = 1_000

/** Detects that what is read now may have waited because this process was suspended or busy. */
export class StallWatch {
  /** Ends the checks. */
  readonly stop: () => void
  readonly #checkMs: number
  #checkedMs = performance.now()
  #catchUpUntilMs = 0

  /** Detects stalls of twice `checkMs`; each check wakes the process. */
  constructor(checkMs = CHECK_MS) {
    this.#checkMs = checkMs
    this.stop = startSharedInterval(checkMs, () => this.#check())
  }

  /** True during and shortly after a time in which this process did not run. */
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
    return nowMs - this.#checkedMs > MISSED * this.#checkMs
  }
}
