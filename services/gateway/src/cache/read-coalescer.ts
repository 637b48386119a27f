interface PendingRead<T> {
  current: Promise<T>
  /** For those who asked while `now` was under way: what it finds may be older than their question. */
  next: Promise<T> | undefined
}

/** Reads that many ask for at once are made once: each gets one that began after it asked. */
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
