interface PendingRead<T> {
  current: Promise<T>
  /**
   * The read for callers that arrived while `current` was in flight, whose result may be older than their
   * calls.
   */
  next: Promise<T> | undefined
}

/** Coalesces concurrent reads of a key: each caller gets the result of a read that began after its call. */
export class ReadCoalescer<T> {
  readonly #pending = new Map<string, PendingRead<T>>()

  read(key: string, ask: () => Promise<T>): Promise<T> {
    const reading = this.#pending.get(key)
    if (!reading) return this.#start(key, ask)
    reading.next ??= reading.current.then(
      () => this.#start(key, ask),
      () => this.#start(key, ask),
    )
    return reading.next
  }

  #start(key: string, ask: () => Promise<T>): Promise<T> {
    const reading: PendingRead<T> = { current: ask(), next: undefined }
    this.#pending.set(key, reading)
    const done = () => {
      if (!reading.next) this.#pending.delete(key)
    }
    reading.current.then(done, done)
    return reading.current
  }
}
