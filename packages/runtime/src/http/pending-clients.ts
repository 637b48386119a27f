/**
 * Counts, for each client address, the connections that have not yet sent an authorized request. An
 * attacker without a credential can hold only these, so they may be limited far below the number of
 * workers and clients behind one address.
 */
export class PendingClients {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  /** `max` of 0 means no limit. */
  constructor(max: number) {
    this.#max = max
  }

  /** Returns the function that ends the count of one client, or undefined above the limit. */
  add(address: string): (() => void) | undefined {
    const count = this.#counts.get(address) ?? 0
    if (this.#max > 0 && count >= this.#max) return undefined
    this.#counts.set(address, count + 1)
    let isCounted = true
    return () => {
      if (isCounted) this.#remove(address)
      isCounted = false
    }
  }

  /** Number of addresses that have pending connections. */
  get addresses(): number {
    return this.#counts.size
  }

  #remove(address: string): void {
    const left = (this.#counts.get(address) ?? 1) - 1
    if (left > 0) this.#counts.set(address, left)
    else this.#counts.delete(address)
  }
}
