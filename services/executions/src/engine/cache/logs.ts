import { LRUCache } from 'lru-cache'
import type { Execution } from '../../domain/execution.ts'
import type { StoredEntry } from '../../store/log.ts'
import type { CommittedChange } from '../batch.ts'

type LogVersion = Pick<Execution, 'execution_id' | 'last_seq'>

interface CachedLog {
  last_seq: number
  bytes: number
  entries: StoredEntry[]
}

const EMPTY_LOG: CachedLog = { last_seq: 0, bytes: 0, entries: [] }
const MAX_LOGS = 4_096
const MAX_LOG_BYTES = 32 * 1_024

/**
 * Write-through cache of the logs of executions that began in this process. A log only grows: its entries
 * up to a given `last_seq` are the same in every replica, so a cached entry never becomes wrong and needs
 * no invalidation.
 */
export class LogCache {
  readonly #logs = new LRUCache<string, CachedLog>({ max: MAX_LOGS })

  /** Appends the entries of a commit. The changes of one execution arrive in order. */
  record(committed: readonly CommittedChange[]): void {
    for (const change of committed) {
      const { execution_id } = change.after
      if (change.entries.length === 0) continue
      const log = this.#appended(change)
      if (log && log.bytes <= MAX_LOG_BYTES) this.#logs.set(execution_id, log)
      else this.#logs.delete(execution_id)
    }
  }

  /** The log up to the `last_seq` of the row, if it is cached. */
  get({ execution_id, last_seq }: LogVersion): StoredEntry[] | undefined {
    if (last_seq === 0) return []
    const log = this.#logs.get(execution_id)
    return log?.last_seq === last_seq ? log.entries : undefined
  }

  /** The cached log with these entries appended; undefined if entries in between are missing. */
  #appended({ before, after, entries }: CommittedChange): CachedLog | undefined {
    const since = before?.last_seq ?? 0
    const cached = since === 0 ? EMPTY_LOG : this.#logs.get(after.execution_id)
    if (cached?.last_seq !== since) return undefined
    return {
      last_seq: after.last_seq,
      bytes: cached.bytes + sizeOf(entries),
      entries: [...cached.entries, ...entries],
    }
  }
}

const sizeOf = (entries: readonly StoredEntry[]) =>
  entries.reduce((sum, { value_json }) => sum + value_json.length + 256, 0)
