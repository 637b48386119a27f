/** Keys of a window of time, for what is recorded once in it. A window begins with the first key after the last one. */
export class RecentKeys {
  readonly #windowMs: number
  readonly #max: number
  readonly #keys = new Set<string>()
  #windowFrom = Number.NEGATIVE_INFINITY

  /** `max`: number of keys that a window has; beyond it a new one begins early. */
  constructor({ windowMs, max }: { windowMs: number; max: number }) {
    this.#windowMs = windowMs
    this.#max = max
  }

  /** Adds a key; true if the window did not have it. A clock that is set back begins a window, too. */
  add(key: string, now = Date.now()): boolean {
    const isOver = Math.abs(now - this.#windowFrom) >= this.#windowMs
    if (isOver || this.#keys.size >= this.#max) {
      this.#keys.clear()
      this.#windowFrom = now
    }
    const isNew = !this.#keys.has(key)
    this.#keys.add(key)
    return isNew
  }

  clear(): void {
    this.#keys.clear()
  }
}
