import { Batcher } from '@windlass/runtime/batcher'
import type { Db } from '@windlass/runtime/postgres/db'
import { LRUCache } from 'lru-cache'
import * as workerStore from '../store/workers.ts'
import type { ConnectedWorkers } from './connected-workers.ts'

const MAX_CACHED = 20_000

/**
 * Current session of a worker name, for pongs: from its stream if it is held here, else from the cache,
 * else read from the database in batches. A cached entry may be outdated; the write of the pong, which
 * compares the session, detects that and invalidates it.
 */
export class SessionLookup {
  readonly #workers: ConnectedWorkers
  readonly #cache = new LRUCache<string, string>({ max: MAX_CACHED })
  readonly #reads: Batcher<string, string | undefined>

  constructor(db: Db, workers: ConnectedWorkers) {
    this.#workers = workers
    this.#reads = new Batcher(async (names) => {
      const rows = await workerStore.readSessions(db, names)
      const found = new Map(rows.map(({ name, session_id }) => [name, session_id]))
      return names.map((name) => found.get(name))
    })
  }

  /** Session of a name, read again if it differs from the claimed one; undefined for unknown names. */
  async getSession(name: string, claimed: string): Promise<string | undefined> {
    const known = this.#workers.get(name)?.session_id ?? this.#cache.get(name)
    if (known && (claimed === '' || claimed === known)) return known
    const session_id = await this.#reads.add(name)
    if (session_id) this.#cache.set(name, session_id)
    return session_id
  }

  invalidate(names: readonly string[]): void {
    for (const name of names) this.#cache.delete(name)
  }
}
