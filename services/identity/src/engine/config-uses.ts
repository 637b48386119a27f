import type { UseEntriesRequest } from '@windlass/proto/windlass/identity/v1/secrets'
import type { Db } from '@windlass/runtime/postgres/db'
import { type ConfigUse, save } from '../store/used-configs.ts'
import { RecentKeys } from './recent-keys.ts'

/** A use of a config by the same version is recorded once in this time by each replica. */
const WINDOW_MS = 600_000
/** Maximum number of uses that wait for a commit; of further ones the next after it is recorded. */
const MAX_PENDING = 10_000
/** Maximum number of uses that are remembered in a window; beyond it they may be recorded again. */
const MAX_REMEMBERED = 50_000

/**
 * Versions of workflows that read configs. Workers may read a config in each task, so a read writes nothing:
 * it is compared in memory with those of the last minutes, and a loop commits new ones together. Unlike the
 * use of a secret, a read is answered before it is recorded: a process that is killed loses those of the
 * last second, and the next read by another process records them.
 */
export class ConfigUses {
  readonly #db: Db
  readonly #now: () => number
  readonly #recent = new RecentKeys({ windowMs: WINDOW_MS, max: MAX_REMEMBERED })
  /** Uses that wait for a commit, by the key under which they are remembered. */
  #pending = new Map<string, ConfigUse>()

  constructor(db: Db, now: () => number = Date.now) {
    this.#db = db
    this.#now = now
  }

  /** Notes a read of these configs. A read without an execution, by an earlier worker, is not attributed. */
  add(request: UseEntriesRequest, configs: readonly string[]): void {
    const { namespace, workflow, workflow_version: version, execution_id } = request
    if (workflow === '') return
    const now = this.#now()
    for (const config of configs) {
      const key = JSON.stringify([config, namespace, workflow, version])
      if (this.#pending.size >= MAX_PENDING || !this.#recent.add(key, now)) continue
      const used_at = new Date(now)
      this.#pending.set(key, { config, namespace, workflow, version, used_at, execution_id })
    }
  }

  /** Commits what was noted. If that fails, it is kept for the next call. */
  async flush(): Promise<void> {
    const uses = this.#pending
    if (uses.size === 0) return
    this.#pending = new Map()
    try {
      await save(this.#db, [...uses.values()])
    } catch (error) {
      // A later use by the same version replaces the earlier one.
      this.#pending = new Map([...uses, ...this.#pending])
      throw error
    }
  }
}
