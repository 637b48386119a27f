import type { ReadGeneration } from './generation-reader.ts'

/** More than the workers of a fleet that answer their pings in turn: one too few, and none is found again. */
const MAX_ENTRIES = 20_000

/**
 * Remembers what was fetched under the current epoch. An entry is filed under the epoch read before
 * it was fetched, and used only while that one holds; while the epoch cannot be read, nothing is.
 */
export class GenerationCache<T> {
  readonly #readGeneration: ReadGeneration
  readonly #fetch: (key: string) => Promise<T>
  #entries = new Map<string, T>()
  #generation: string | undefined

  constructor(readGeneration: ReadGeneration, fetch: (key: string) => Promise<T>) {
    this.#readGeneration = readGeneration
    this.#fetch = fetch
  }

  async get(key: string): Promise<T> {
    const generation = await this.#readGeneration()
    if (generation === undefined) return this.#fetch(key)
    if (generation !== this.#generation) {
      this.#entries = new Map()
      this.#generation = generation
    }
    const entries = this.#entries
    const known = entries.get(key)
    if (known !== undefined) return known
    const value = await this.#fetch(key)
    if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value as string)
    entries.set(key, value)
    return value
  }
}
