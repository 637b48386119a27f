import { GenerationCache } from './generation-cache.ts'
import type { ReadGeneration } from './generation-reader.ts'

interface Entry<T> {
  value: T
  reported_ms: number
}

interface Options {
  /** How long it may go untold that something is used. */
  reportIntervalMs: number
  now?: () => number
}

/**
 * Remembers as EpochCache does, and asks again now and then for what goes on being used, so that
 * whoever vouches for it learns when it was of use last. No request waits for that.
 */
export class UsageReportingCache<T> {
  readonly #entries: GenerationCache<Entry<T>>
  readonly #fetch: (key: string) => Promise<T>
  readonly #options: Required<Options>

  constructor(
    readGeneration: ReadGeneration,
    ask: (key: string) => Promise<T>,
    { reportIntervalMs, now = Date.now }: Options,
  ) {
    this.#fetch = ask
    this.#options = { reportIntervalMs: reportIntervalMs, now }
    this.#entries = new GenerationCache(readGeneration, async (key) => ({
      reported_ms: now(),
      value: await ask(key),
    }))
  }

  async get(key: string): Promise<T> {
    const entry = await this.#entries.get(key)
    const { reportIntervalMs, now } = this.#options
    if (now() - entry.reported_ms >= reportIntervalMs) {
      entry.reported_ms = now()
      // Only the time is wanted; what the answer may change comes with another epoch.
      this.#fetch(key).catch(() => {})
    }
    return entry.value
  }
}
