/** More than the workers of a fleet that answer their pings in turn: one too few, and none is found again. */
const MAX_ENTRIES = 20_000

/**
 * Remembers what was fetched under the current epoch. An entry is filed under the epoch read before
 * it was fetched, and used only while that one holds; while the epoch cannot be read, nothing is.
 */
export class EpochCache<T> {
  readonly #readEpoch: () => Promise<string | undefined>
  readonly #fetch: (key: string) => Promise<T>
  #entries = new Map<string, T>()
  #epoch: string | undefined

  constructor(readEpoch: () => Promise<string | undefined>, fetch: (key: string) => Promise<T>) {
    this.#readEpoch = readEpoch
    this.#fetch = fetch
  }

  async get(key: string): Promise<T> {
    const epoch = await this.#readEpoch()
    if (epoch === undefined) return this.#fetch(key)
    if (epoch !== this.#epoch) {
      this.#entries = new Map()
      this.#epoch = epoch
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
