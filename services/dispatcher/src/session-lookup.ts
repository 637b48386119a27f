import { Batcher } from '@windlass/runtime/batcher'
import type { Db } from '@windlass/runtime/postgres/db'
import type { ConnectedWorkers } from './connected-workers.ts'
import * as workerStore from './store/workers.ts'

const MAX_CACHED = 20_000

/**
 * Which session a name has, for pongs: from the stream if it is here, else from memory, else read,
 * many at once. Memory may be behind; the write of a pong finds that out and has it forgotten.
 */
export class SessionLookup {
  readonly #workers: ConnectedWorkers
  readonly #cache = new Map<string, string>()
  readonly #reads: Batcher<string, string | undefined>

  constructor(db: Db, workers: ConnectedWorkers) {
    this.#workers = workers
    this.#reads = new Batcher(async (names) => {
      const rows = await workerStore.readSessions(db, names)
      const found = new Map(rows.map(({ name, session_id }) => [name, session_id]))
      return names.map((name) => found.get(name))
    })
  }

  /** The session of a name, read anew if it is not the one that is claimed. Undefined for unknown names. */
  async getSession(name: string, claimed: string): Promise<string | undefined> {
    const known = this.#workers.get(name)?.session_id ?? this.#cache.get(name)
    if (known && (claimed === '' || claimed === known)) return known
    const session_id = await this.#reads.add(name)
    if (session_id) this.#record(name, session_id)
    return session_id
  }

  invalidate(names: readonly string[]): void {
    for (const name of names) this.#cache.delete(name)
  }

  #record(name: string, session_id: string): void {
    const [oldest] = this.#cache.keys()
    if (oldest !== undefined && this.#cache.size >= MAX_CACHED) this.#cache.delete(oldest)
    this.#cache.set(name, session_id)
  }
}
