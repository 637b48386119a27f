import { isTerminal } from '@windlass/domain/states'
import { LRUCache } from 'lru-cache'
import type { Execution } from '../../domain/execution.ts'
import type { CommittedChange } from '../batch.ts'

const MAX_ROWS = 8_192
const MAX_PAYLOAD_LENGTH = 8_192

/**
 * Write-through cache of rows that this process committed. Another replica may have changed a row
 * since: a decision from the cache is written only if the row still has the cached revision.
 */
export class RowCache {
  readonly #rows = new LRUCache<string, Execution>({ max: MAX_ROWS })

  record(committed: readonly CommittedChange[]): void {
    for (const { after } of committed)
      if (isCacheable(after)) this.#rows.set(after.execution_id, after)
      else this.#rows.delete(after.execution_id)
  }

  get(execution_id: string): Execution | undefined {
    return this.#rows.get(execution_id)
  }

  delete(execution_id: string): void {
    this.#rows.delete(execution_id)
  }
}

/**
 * True for small rows that are likely to change again on the optimistic path, which does not read
 * approvals.
 */
const isCacheable = ({ state, gated, input_json = '', pause_output_json = '' }: Execution) =>
  !isTerminal(state) &&
  !gated &&
  input_json.length <= MAX_PAYLOAD_LENGTH &&
  pause_output_json.length <= MAX_PAYLOAD_LENGTH
