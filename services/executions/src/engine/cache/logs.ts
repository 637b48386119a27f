import type { Execution } from '../../domain/execution.ts'
import type { StoredEntry } from '../../store/log.ts'
import type { CommittedChange } from '../pessimistic.ts'

interface CachedLog {
  last_seq: number
  bytes: number
  entries: StoredEntry[]
}

const EMPTY_LOG: CachedLog = { last_seq: 0, bytes: 0, entries: [] }
const MAX_LOGS = 4_096
const MAX_LOG_BYTES = 32 * 1_024

/**
 * The logs of executions that began here a moment ago. A log only grows, so what is remembered up
 * to some entry is true of every row that ends with it: nothing has to be voided, whoever else writes.
 */
export class LogCache {
  readonly #logs = new Map<string, CachedLog>()

  /** Told of each commit, in the order of one execution's changes. */
  record(effects: readonly CommittedChange[]): void {
    for (const effect of effects) {
      const { execution_id } = effect.after
      if (effect.entries.length === 0) continue
      const grown = this.#grown(effect)
      this.#logs.delete(execution_id)
      if (grown && grown.bytes <= MAX_LOG_BYTES) this.#keep(execution_id, grown)
    }
  }

  /** The whole log that belongs to this row, if it is remembered. */
  get({
    execution_id,
    last_seq,
  }: Pick<Execution, 'execution_id' | 'last_seq'>): StoredEntry[] | undefined {
    if (last_seq === 0) return []
    const known = this.#logs.get(execution_id)
    return known?.last_seq === last_seq ? known.entries : undefined
  }

  /** What is known with these entries behind it; undefined when there is a gap. */
  #grown({ before, after, entries }: CommittedChange): CachedLog | undefined {
    const since = before?.last_seq ?? 0
    const known = since === 0 ? EMPTY_LOG : this.#logs.get(after.execution_id)
    if (known?.last_seq !== since) return undefined
    return {
      last_seq: after.last_seq,
      bytes: known.bytes + sizeOf(entries),
      entries: [...known.entries, ...entries],
    }
  }

  #keep(execution_id: string, recent: CachedLog): void {
    this.#logs.set(execution_id, recent)
    if (this.#logs.size <= MAX_LOGS) return
    const [oldest] = this.#logs.keys()
    if (oldest !== undefined) this.#logs.delete(oldest)
  }
}

const sizeOf = (entries: readonly StoredEntry[]) =>
  entries.reduce((sum, { value_json }) => sum + value_json.length + 256, 0)
