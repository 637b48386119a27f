import { cacheGenerations, cacheLookups } from '../metrics.ts'
import type { ReadGeneration } from './generation-reader.ts'

/**
 * More than the number of workers that answer pings in turn: with one entry fewer, a FIFO cache would miss
 * every one of them.
 */
const MAX_ENTRIES = 20_000

/**
 * A cache whose entries are valid for one generation.
 *
 * The owner of the data (identity for `auth`, catalog for `catalog`) replaces the generation, a random
 * token in Redis, whenever it commits a change; every gateway reads the token before it uses an entry:
 *
 *   gateway                    Redis                    owner
 *     read generation ────────► g1
 *     miss: fetch ───────────────────────────────────────► answers v1
 *     store v1 under g1
 *                               g2 ◄──────────────────── commit v2, replace the generation
 *     read generation ────────► g2: drop all of g1, fetch v2
 *
 * Guaranteed: a request that arrives after the owner has answered a change is never decided by the
 * state before it, at any replica. An entry is stored under the generation that was read *before* the
 * fetch, and into the map of that generation, so that a fetch that a change overtakes stores into a map
 * that is already dropped. The read itself is leased and batched (generation-reader.ts, ADR 14).
 *
 * Not guaranteed: a hit. While Redis does not answer, every request fetches; a change of one account
 * drops the entries of all. One token per cache and not per key, since most changes (a role, a revoked
 * key) affect entries that cannot be listed.
 *
 * A plain Map with FIFO eviction, not an LRU: a new generation replaces the map, and an LRU of this
 * size would allocate its index arrays each time.
 */
export class GenerationCache<T> {
  readonly #readGeneration: ReadGeneration
  readonly #fetch: (key: string) => Promise<T>
  #entries = new Map<string, T>()
  #generation: string | undefined
  readonly #name: string

  /** `name` is the label of its metrics. */
  constructor(name: string, readGeneration: ReadGeneration, fetch: (key: string) => Promise<T>) {
    this.#name = name
    this.#readGeneration = readGeneration
    this.#fetch = fetch
  }

  /** `fetch` replaces the fetch of the cache for this call. */
  async get(key: string, fetch = this.#fetch): Promise<T> {
    const generation = await this.#readGeneration()
    if (generation === undefined) {
      this.#count('bypassed')
      return fetch(key)
    }
    if (generation !== this.#generation) {
      this.#entries = new Map()
      this.#generation = generation
      cacheGenerations.add(1, { cache: this.#name })
    }
    const entries = this.#entries
    const known = entries.get(key)
    this.#count(known === undefined ? 'miss' : 'hit')
    if (known !== undefined) return known
    const value = await fetch(key)
    if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value as string)
    entries.set(key, value)
    return value
  }

  #count(result: 'hit' | 'miss' | 'bypassed'): void {
    cacheLookups.add(1, { cache: this.#name, result })
  }
}
