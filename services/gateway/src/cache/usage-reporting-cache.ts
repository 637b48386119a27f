import { GenerationCache } from './generation-cache.ts'
import type { ReadGeneration } from './generation-reader.ts'

interface Entry<T> {
  value: T
  reported_ms: number
}

interface Options {
  /** Label of its metrics. */
  name: string
  /** Maximum time without a report while an entry is in use. */
  reportIntervalMs: number
  now?: () => number
}

/**
 * A GenerationCache that refetches an entry in use from time to time, so that the owner learns when it was
 * last used. No request waits for that.
 */
export class UsageReportingCache<T> {
  readonly #entries: GenerationCache<Entry<T>>
  readonly #fetch: (key: string) => Promise<T>
  readonly #options: Required<Options>

  constructor(
    readGeneration: ReadGeneration,
    ask: (key: string) => Promise<T>,
    { name, reportIntervalMs, now = Date.now }: Options,
  ) {
    this.#fetch = ask
    this.#options = { name, reportIntervalMs, now }
    this.#entries = new GenerationCache(name, readGeneration, (key) => this.#load(() => ask(key)))
  }

  /** `fetch` replaces the fetch of the cache for this call, but not for its reports. */
  async get(key: string, fetch?: () => Promise<T>): Promise<T> {
    const load = fetch && (() => this.#load(fetch))
    const entry = await this.#entries.get(key, load)
    const { reportIntervalMs, now } = this.#options
    if (now() - entry.reported_ms >= reportIntervalMs) {
      entry.reported_ms = now()
      // Only the report matters: if the value had changed, there would be a new generation.
      this.#fetch(key).catch(() => {})
    }
    return entry.value
  }

  async #load(fetch: () => Promise<T>): Promise<Entry<T>> {
    const reported_ms = this.#options.now()
    return { reported_ms, value: await fetch() }
  }
}
