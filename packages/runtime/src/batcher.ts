/*
 * Group commit.
 *
 * Problem. A commit waits for the disk and an rpc waits for the network, whether it carries one item
 * or a hundred. A commit of one item costs about 0.16 CPU-ms, and a fifth of that per item in a
 * batch. A timer that waits for every batch to fill adds its delay to every item when there is no load.
 *
 * Algorithm. Items that arrive while a batch is in flight form the next batch (DeWitt et al.,
 * "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984).
 *
 *      item a ---> [a] in flight ------------------> done
 *      item b ------------> queue: b
 *      item c ----------------> queue: b, c
 *                                                    [b, c] in flight ---> done
 *      item d -----------------------------------------> queue: d        [d] in flight
 *
 * An idle batcher sends a single item at once, so latency without load is that of the operation. A
 * busy one grows its batches to what arrives during one operation: throughput follows the load.
 * `maxBatchSize` bounds a batch; the rest of the queue waits for the next one.
 *
 * Variants.
 * - `concurrency`: so many batches in flight. Batches then complete in any order.
 * - `perTick`: items added in one turn of the event loop form one batch although nothing is in
 *   flight. For callers that add many items in a loop, where the first would otherwise go alone.
 * - `maxSpacingMs`: under load the next batch starts as long after the end of the one before it as that
 *   one took, at most `maxSpacingMs`. Without it a fast operation makes many small batches while the
 *   processors are busy, each with a commit, messages and wake-ups of three processes. Load means that at
 *   least MIN_SPACED_ITEMS items are in the batch and the queue behind it, so a caller alone never waits.
 *   A fixed time is too long on a fast machine, where callers then wait and the processors are idle.
 * - `maxDelayMs`: the first item waits for others. For writes that are not urgent, such as
 *   heartbeats, where fewer operations matter more than latency.
 *
 * Guarantees. Items keep their order within a batch and, with a concurrency of 1, between batches.
 * Each item settles with its own result. A batch that rejects rejects all its items: error isolation
 * is the task of the operation (`batchOrEach`). The queue has no limit of its own; what limits it is
 * the number of requests that the process admits.
 *
 * `whenIdle` resolves when nothing is queued or in flight; teardown waits for it, so that no accepted
 * item is lost in an orderly stop.
 *
 * Measurements (bench/README.md, 2 virtual cores). A single execution, where nothing is batched, costs 3.8
 * times the CPU of one among 64 in flight. A spacing of the duration of the batch instead of always 4 ms
 * gives 1.15 times the executions per second at 32 in flight for the same CPU.
 *
 * Rejected.
 * - A timer that fills every batch: it delays every item when there is no load (ADR 3). `maxDelayMs` is
 *   such a timer, only for writes that are not urgent.
 * - Retrying a failed batch here: only the operation knows if an item may be sent twice.
 */
interface PendingItem<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface BatcherOptions {
  /** Number of batches that may be in flight at once; 1 unless set. */
  concurrency?: number
  /** Maximum number of items in a batch. */
  maxBatchSize?: number
  /** Maximum of milliseconds between two batches while at least MIN_SPACED_ITEMS items are in the two; 0 for none. */
  maxSpacingMs?: number
  /** Milliseconds that the first item waits for others; 0 for not at all. */
  maxDelayMs?: number
  /** Items of one turn of the event loop form one batch, although nothing is in flight. */
  perTick?: boolean
}

const MAX_BATCH_SIZE = 256
/** With fewer items the processors are not busy, and a wait costs latency and saves nothing (bench/README.md). */
const MIN_SPACED_ITEMS = 12

/** Groups items into batches. `send` answers one result for each item, in order; its rejection rejects them all. */
export class Batcher<Item, Result> {
  readonly #send: (items: Item[]) => Promise<Result[]>
  readonly #concurrency: number
  readonly #maxBatchSize: number
  readonly #maxSpacingMs: number
  readonly #maxDelayMs: number
  readonly #perTick: boolean
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined
  #queue: PendingItem<Item, Result>[] = []
  #inFlight = 0
  #idle: (() => void)[] = []

  constructor(send: (items: Item[]) => Promise<Result[]>, options: BatcherOptions = {}) {
    this.#send = send
    this.#concurrency = options.concurrency ?? 1
    this.#maxBatchSize = options.maxBatchSize ?? MAX_BATCH_SIZE
    this.#maxSpacingMs = options.maxSpacingMs ?? 0
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

  /** Resolves when nothing is queued or in flight. */
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

  #shouldSpace(sent: number): boolean {
    const queued = this.#queue.length
    const isLoaded = queued > 0 && sent + queued >= MIN_SPACED_ITEMS
    return this.#maxSpacingMs > 0 && isLoaded && queued < this.#maxBatchSize
  }

  async #run(batch: PendingItem<Item, Result>[]): Promise<void> {
    const begunMs = performance.now()
    try {
      const results = await this.#send(batch.map(({ item }) => item))
      for (const [i, pending] of batch.entries()) pending.resolve(results[i] as Result)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#inFlight--
    if (this.#shouldSpace(batch.length)) {
      const tookMs = Math.round(performance.now() - begunMs)
      this.#timer ??= setTimeout(() => this.#onTimer(), Math.min(tookMs, this.#maxSpacingMs))
    }
    this.#startBatches()
    if (this.#inFlight > 0 || this.#queue.length > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
