interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface GatherOptions {
  /** How many flushes may be under way at once. */
  lanes?: number
  /** The most items one flush takes. */
  maxItems?: number
  /** How long a first item waits for others; 0: not at all. */
  waitMs?: number
  /** What comes in one turn of the event loop goes together, although nothing is under way. */
  byTurn?: boolean
}

const MAX_ITEMS = 256

/**
 * Group commit in general form: items that arrive while a flush is under way wait and go together
 * with the next. Without `waitMs` no timer: an idle gatherer flushes at once, a busy one fills itself. (The idea is
 * that of DeWitt et al., "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984.)
 *
 * `flush` answers one result for each item, in order; its rejection rejects all of them.
 */
export class Gather<Item, Result> {
  readonly #flush: (items: Item[]) => Promise<Result[]>
  readonly #lanes: number
  readonly #maxItems: number
  readonly #waitMs: number
  readonly #byTurn: boolean
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined
  #waiting: Waiting<Item, Result>[] = []
  #underWay = 0
  #idle: (() => void)[] = []

  constructor(flush: (items: Item[]) => Promise<Result[]>, options: GatherOptions = {}) {
    this.#flush = flush
    this.#lanes = options.lanes ?? 1
    this.#maxItems = options.maxItems ?? MAX_ITEMS
    this.#waitMs = options.waitMs ?? 0
    this.#byTurn = options.byTurn ?? false
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#waitMs > 0) this.#timer ??= setTimeout(() => this.#ripe(), this.#waitMs)
      else if (this.#byTurn) this.#timer ??= setImmediate(() => this.#ripe())
      else this.#next()
    })
  }

  /** Resolves when nothing is waiting or under way. */
  async drained(): Promise<void> {
    if (this.#underWay === 0 && this.#waiting.length === 0) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #ripe(): void {
    this.#timer = undefined
    this.#next()
  }

  #next(): void {
    if (this.#timer) return
    while (this.#underWay < this.#lanes && this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, this.#maxItems)
      this.#waiting = this.#waiting.slice(this.#maxItems)
      this.#underWay++
      void this.#run(batch)
    }
  }

  async #run(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#flush(batch.map(({ item }) => item))
      for (const [i, waiting] of batch.entries()) waiting.resolve(results[i] as Result)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#underWay--
    this.#next()
    if (this.#underWay > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
