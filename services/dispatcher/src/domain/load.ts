/**
 * Estimate of the number of executions that a worker holds. It errs on the low side: the lease counts
 * exactly, so an estimate that is too low costs one offer, while one that is too high keeps a worker idle
 * until the next poll, a second later.
 */
export class Load {
  #used = 0
  #freedSinceRequest = 0
  #countedAtMs = Number.NEGATIVE_INFINITY

  get used(): number {
    return this.#used
  }

  /** Records the start of a lease request, whose answer will contain a count. */
  countRequested(): void {
    this.#freedSinceRequest = 0
  }

  /** Applies a count, less the slots freed since the request: the count may precede them. */
  applyCount(used: number, now_ms: number): void {
    this.#used = Math.max(0, used - this.#freedSinceRequest)
    this.#countedAtMs = now_ms
  }

  /** Adds an assignment from a long poll that began at `since_ms`, unless a later count may include it. */
  addAssigned(since_ms: number): void {
    if (this.#countedAtMs < since_ms) this.#used++
  }

  slotsFreed(slots: number): void {
    this.#used = Math.max(0, this.#used - slots)
    this.#freedSinceRequest += slots
  }
}
