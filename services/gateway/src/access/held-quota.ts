import { createHash } from 'node:crypto'
import { quotaExceeded } from '@windlass/domain/quota-exceeded'
import type { Redis } from '@windlass/runtime/redis/redis'

/** Hash of a holder's key, because Redis keeps keys in plain text. */
export const hashOf = (key: string): string =>
  createHash('sha256').update(key).digest('hex').slice(0, 32)

/** Interval at which replicas publish what they hold. */
const WINDOW_MS = 5_000
const KEY_TTL_MS = 6 * WINDOW_MS

/** A principal or a namespace, with its limit; 0: none. */
export interface Holder {
  key: string
  limit: number
}

interface Count {
  own: number
  /** Number held by other replicas in the previous window. */
  others: number
  published: number
}

export interface HeldQuotaOptions {
  /** Name of the counters, and of the counted thing in refusals. */
  name: string
  redis: Pick<Redis, 'incrby' | 'set' | 'get'>
  now?: () => number
}

/**
 * Limits how many of something each principal and namespace holds at a time. A replica decides from its own
 * exact count and from the counts that the other replicas published in the previous window; no request
 * waits for Redis. Counters expire, so nothing stays counted when a replica dies, and without Redis each
 * replica limits what it holds itself.
 */
export class HeldQuota {
  readonly #options: Required<HeldQuotaOptions>
  readonly #counts = new Map<string, Count>()
  readonly #timer: NodeJS.Timeout

  constructor(options: HeldQuotaOptions) {
    this.#options = { now: Date.now, ...options }
    this.#timer = setInterval(() => void this.exchange(), WINDOW_MS)
    this.#timer.unref()
  }

  /**
   * Takes one for each holder; throws `unavailable` if a holder has reached its limit. Returns the function
   * that releases them.
   */
  take(holders: readonly Holder[]): () => void {
    const limited = holders.filter(({ limit }) => limit > 0)
    for (const { key, limit } of limited) {
      const { own, others } = this.#counts.get(key) ?? { own: 0, others: 0 }
      if (own + others >= limit) throw quotaExceeded(this.#options.name, key, limit)
    }
    for (const { key } of limited) this.#countOf(key).own++
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      for (const { key } of limited) this.#countOf(key).own--
    }
  }

  /** Publishes this replica's counts of the window and reads the sums of the previous one. */
  async exchange(): Promise<void> {
    const window = Math.floor(this.#options.now() / WINDOW_MS)
    const all = [...this.#counts].map(([key, count]) => this.#exchangeOne(window, key, count))
    await Promise.all(all)
  }

  async #exchangeOne(window: number, key: string, count: Count): Promise<void> {
    const { redis, name } = this.#options
    const keyOf = (at: number) => `rate:held:${name}:${hashOf(key)}:${at}`
    const { published, own } = count
    count.published = own
    try {
      const [, , sum] = await Promise.all([
        redis.set(keyOf(window), '0', 'PX', KEY_TTL_MS, 'NX'),
        redis.incrby(keyOf(window), own),
        redis.get(keyOf(window - 1)),
      ])
      count.others = Math.max(0, Number(sum ?? 0) - published)
    } catch {
      count.others = 0
    }
    if (count.own === 0 && published === 0 && count.others === 0) this.#counts.delete(key)
  }

  #countOf(key: string): Count {
    const count = this.#counts.get(key) ?? { own: 0, others: 0, published: 0 }
    this.#counts.set(key, count)
    return count
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
