import { Batcher } from '@windlass/runtime/batcher'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Sessions } from './sessions.ts'
import * as workers from './store/workers.ts'

const MAX_REMEMBERED = 20_000

/**
 * Which session a name has, for pongs: from the stream if it is here, else from memory, else read,
 * many at once. Memory may be behind; the write of a pong finds that out and has it forgotten.
 */
export class Callers {
  readonly #sessions: Sessions
  readonly #remembered = new Map<string, string>()
  readonly #reads: Batcher<string, string | undefined>

  constructor(db: Db, sessions: Sessions) {
    this.#sessions = sessions
    this.#reads = new Batcher(async (names) => {
      const rows = await workers.sessions(db, names)
      const found = new Map(rows.map(({ name, session_id }) => [name, session_id]))
      return names.map((name) => found.get(name))
    })
  }

  /** The session of a name, read anew if it is not the one that is claimed. Undefined for unknown names. */
  async sessionOf(name: string, claimed: string): Promise<string | undefined> {
    const known = this.#sessions.get(name)?.session_id ?? this.#remembered.get(name)
    if (known && (claimed === '' || claimed === known)) return known
    const session_id = await this.#reads.add(name)
    if (session_id) this.#remember(name, session_id)
    return session_id
  }

  forget(names: readonly string[]): void {
    for (const name of names) this.#remembered.delete(name)
  }

  #remember(name: string, session_id: string): void {
    const [oldest] = this.#remembered.keys()
    if (oldest !== undefined && this.#remembered.size >= MAX_REMEMBERED)
      this.#remembered.delete(oldest)
    this.#remembered.set(name, session_id)
  }
}
