import { type EpochName, readEpoch } from '@windlass/runtime/epoch'
import { Gather } from '@windlass/runtime/gather'
import type { Redis } from '@windlass/runtime/redis'

/** More than the workers of a fleet that answer their pings in turn: one too few, and none is found again. */
const MAX_ENTRIES = 20_000
const LANES = 2

/**
 * Reads the current epoch, one question for all who ask at the same time. Nobody joins a question
 * that was under way already: its answer may be older than what the asker must see. An epoch counts
 * for one connection: a Redis that comes back, or another in its place, may remember an old one.
 */
export function epochReader(redis: Redis, name: EpochName): () => Promise<string | undefined> {
  let connection = 0
  redis.on('ready', () => connection++)
  const read = async () => {
    const asked = connection
    const epoch = await readEpoch(redis, name)
    return epoch === undefined || asked !== connection ? undefined : `${asked} ${epoch}`
  }
  const gather = new Gather<undefined, string | undefined>(
    async (asks) => {
      const epoch = await read()
      return asks.map(() => epoch)
    },
    { lanes: LANES, maxItems: 10_000 },
  )
  return () => gather.add(undefined)
}

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
