interface PendingItem<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface BatcherOptions {
  /** How many flushes may be under way at once. */
  concurrency?: number
  /** The most items one flush takes. */
  maxBatchSize?: number
  /** How long a first item waits for others; 0: not at all. */
  maxDelayMs?: number
  /** What comes in one turn of the event loop goes together, although nothing is under way. */
  perTick?: boolean
}

const MAX_BATCH_SIZE = 256

/**
 * Group commit in general form: items that arrive while a flush is under way wait and go together
 * with the next. Without `waitMs` no timer: an idle gatherer flushes at once, a busy one fills itself. (The idea is
 * that of DeWitt et al., "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984.)
 *
 * `flush` answers one result for each item, in order; its rejection rejects all of them.
 */
export class Batcher<Item, Result> {
  readonly #flush: (items: Item[]) => Promise<Result[]>
  readonly #concurrency: number
  readonly #maxBatchSize: number
  readonly #maxDelayMs: number
  readonly #perTick: boolean
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined
  #queue: PendingItem<Item, Result>[] = []
  #inFlight = 0
  #idle: (() => void)[] = []

  constructor(flush: (items: Item[]) => Promise<Result[]>, options: BatcherOptions = {}) {
    this.#flush = flush
    this.#concurrency = options.concurrency ?? 1
    this.#maxBatchSize = options.maxBatchSize ?? MAX_BATCH_SIZE
    this.#maxDelayMs = options.maxDelayMs ?? 0
    this.#perTick = options.perTick ?? false
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject })
      if (this.#maxDelayMs > 0) this.#timer ??= setTimeout(() => this.#onTimer(), this.#maxDelayMs)
      else if (this.#perTick) this.#timer ??= setImmediate(() => this.#onTimer())
      else this.#startBatches()
    })
  }

  /** Resolves when nothing is waiting or under way. */
  async whenIdle(): Promise<void> {
    if (this.#inFlight === 0 && this.#queue.length === 0) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #onTimer(): void {
    this.#timer = undefined
    this.#startBatches()
  }

  #startBatches(): void {
    if (this.#timer) return
    while (this.#inFlight < this.#concurrency && this.#queue.length > 0) {
      const batch = this.#queue.slice(0, this.#maxBatchSize)
      this.#queue = this.#queue.slice(this.#maxBatchSize)
      this.#inFlight++
      void this.#run(batch)
    }
  }

  async #run(batch: PendingItem<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#flush(batch.map(({ item }) => item))
      for (const [i, waiting] of batch.entries()) waiting.resolve(results[i] as Result)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#inFlight--
    this.#startBatches()
    if (this.#inFlight > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
