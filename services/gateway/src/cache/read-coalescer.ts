interface Reading<T> {
  now: Promise<T>
  /** For those who asked while `now` was under way: what it finds may be older than their question. */
  next: Promise<T> | undefined
}

/** Reads that many ask for at once are made once: each gets one that began after it asked. */
export class SharedReads<T> {
  readonly #readings = new Map<string, Reading<T>>()

  read(key: string, ask: () => Promise<T>): Promise<T> {
    const reading = this.#readings.get(key)
    if (!reading) return this.#begin(key, ask)
    reading.next ??= reading.now.then(
      () => this.#begin(key, ask),
      () => this.#begin(key, ask),
    )
    return reading.next
  }

  #begin(key: string, ask: () => Promise<T>): Promise<T> {
    const reading: Reading<T> = { now: ask(), next: undefined }
    this.#readings.set(key, reading)
    const done = () => {
      if (!reading.next) this.#readings.delete(key)
    }
    reading.now.then(done, done)
    return reading.now
  }
}
