import { unavailable } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import * as executions from '../store/executions.ts'

/**
 * Rows that were locked for longer than LOCK_MS, which is many times the duration of a batch. Such a lock
 * belongs to a hung process, and the database releases it when it ends that session. Until then commands
 * for these rows are answered `unavailable` at once, outside of a batch, so that no other command waits
 * with them.
 */
export class LockedRows {
  readonly #db: Db
  readonly #ids = new Set<string>()

  constructor(db: Db) {
    this.#db = db
  }

  /** True if the row was locked at the last lookup. */
  mayBeLocked(execution_id: string): boolean {
    return this.#ids.has(execution_id)
  }

  /** Finds which of these rows are locked now; all of them if the database does not answer. */
  async findLocked(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const locked = new Set(await executions.findLocked(this.#db, ids).catch(() => ids))
    for (const id of ids) {
      if (locked.has(id)) this.#ids.add(id)
      else this.#ids.delete(id)
    }
    return locked
  }
}

export const rowBusy = () => unavailable('The execution is being modified; retry.')
