import { unavailable } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import * as executions from '../store/executions.ts'

/**
 * Rows that a process had locked for longer than a change takes: it hangs, and the database takes
 * them from it after a while. Until then whoever wants one is asked to come again, at once, so
 * that nobody else waits in the same flush.
 */
export class LockedRows {
  readonly #db: Db
  readonly #ids = new Set<string>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Whether it was among them the last time somebody looked. */
  mayBeLocked(execution_id: string): boolean {
    return this.#ids.has(execution_id)
  }

  /** Those of these rows that somebody has locked now; all of them if nobody can say. */
  async findLocked(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const held = new Set(await executions.findLocked(this.#db, ids).catch(() => ids))
    for (const id of ids) {
      if (held.has(id)) this.#ids.add(id)
      else this.#ids.delete(id)
    }
    return held
  }
}

export const rowBusy = () => unavailable('somebody else is changing it; try again')
