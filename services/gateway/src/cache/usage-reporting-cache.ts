import { EpochCache } from './generation-cache.ts'

interface Entry<T> {
  value: T
  told_ms: number
}

interface Options {
  /** How long it may go untold that something is used. */
  tellMs: number
  now?: () => number
}

/**
 * Remembers as EpochCache does, and asks again now and then for what goes on being used, so that
 * whoever vouches for it learns when it was of use last. No request waits for that.
 */
export class InUse<T> {
  readonly #entries: EpochCache<Entry<T>>
  readonly #ask: (key: string) => Promise<T>
  readonly #options: Required<Options>

  constructor(
    readEpoch: () => Promise<string | undefined>,
    ask: (key: string) => Promise<T>,
    { tellMs, now = Date.now }: Options,
  ) {
    this.#ask = ask
    this.#options = { tellMs, now }
    this.#entries = new EpochCache(readEpoch, async (key) => ({
      told_ms: now(),
      value: await ask(key),
    }))
  }

  async get(key: string): Promise<T> {
    const entry = await this.#entries.get(key)
    const { tellMs, now } = this.#options
    if (now() - entry.told_ms >= tellMs) {
      entry.told_ms = now()
      // Only the time is wanted; what the answer may change comes with another epoch.
      this.#ask(key).catch(() => {})
    }
    return entry.value
  }
}
