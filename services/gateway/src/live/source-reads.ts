/** Maximum number of sources that are read at the same time. */
const CONCURRENCY = 8
/** Maximum number of them that readers of one principal have opened. */
const CONCURRENCY_OF_PRINCIPAL = 2

interface ReadableSource {
  /** Principal that opened it; undefined while authentication is off. */
  principal: string | undefined
}

/**
 * Reads sources in the order in which they were added. A filter may take the database seconds, so a source waits
 * neither for the others nor, behind the many of one principal, for its own turn: a principal has a few at a time.
 */
export class SourceReads<Source extends ReadableSource> {
  readonly #read: (source: Source) => Promise<void>
  readonly #waiting = new Set<Source>()
  readonly #running = new Map<Source, Promise<void>>()

  /** `read` must not throw. */
  constructor(read: (source: Source) => Promise<void>) {
    this.#read = read
  }

  /** Reads a source in its turn: once if it waits already, and again if it is being read. */
  add(source: Source): void {
    this.#waiting.add(source)
    this.#start()
  }

  /** Starts no more reads; resolves when those that run have ended. */
  async stop(): Promise<void> {
    this.#waiting.clear()
    await Promise.all(this.#running.values())
  }

  #start(): void {
    for (const source of this.#waiting) {
      if (this.#running.size >= CONCURRENCY) return
      if (this.#canRead(source)) this.#begin(source)
    }
  }

  #begin(source: Source): void {
    this.#waiting.delete(source)
    const reading = this.#read(source).finally(() => {
      this.#running.delete(source)
      this.#start()
    })
    this.#running.set(source, reading)
  }

  #canRead(source: Source): boolean {
    if (this.#running.has(source)) return false
    const { principal } = source
    if (principal === undefined) return true
    const own = [...this.#running.keys()].filter((one) => one.principal === principal)
    return own.length < CONCURRENCY_OF_PRINCIPAL
  }
}
