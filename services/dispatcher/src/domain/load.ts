/**
 * How much a worker holds, as far as this process knows: rather too little than too much. The lease
 * itself counts, but who is believed to be full is not even offered.
 */
export class Load {
  #used = 0
  #freedSinceRequest = 0
  #countedAtMs = Number.NEGATIVE_INFINITY

  get used(): number {
    return this.#used
  }

  /** The executions service is asked to count. */
  countRequested(): void {
    this.#freedSinceRequest = 0
  }

  /** What it has counted. It may have done so before it freed what was heard of meanwhile. */
  applyCount(used: number, now_ms: number): void {
    this.#used = Math.max(0, used - this.#freedSinceRequest)
    this.#countedAtMs = now_ms
  }

  /** One more was given in answer to a wait that began then; a count since may have it already. */
  addAssigned(since_ms: number): void {
    if (this.#countedAtMs < since_ms) this.#used++
  }

  slotsFreed(slots: number): void {
    this.#used = Math.max(0, this.#used - slots)
    this.#freedSinceRequest += slots
  }
}
