import { isTerminal } from '@windlass/domain/states'
import type { Execution } from '../../domain/execution.ts'
import type { CommittedChange } from '../pessimistic.ts'

const MAX_ROWS = 8_192
const MAX_PAYLOAD_LENGTH = 8_192

/**
 * Rows as this process committed them a moment ago. Another replica may have changed one since, so
 * what was decided from memory is written only if the row still has the revision remembered here.
 */
export class RowCache {
  readonly #rows = new Map<string, Execution>()

  /** Told of each commit. */
  record(effects: readonly CommittedChange[]): void {
    for (const { after } of effects) {
      this.#rows.delete(after.execution_id)
      if (isCacheable(after)) this.#rows.set(after.execution_id, after)
    }
    for (const oldest of this.#rows.keys()) {
      if (this.#rows.size <= MAX_ROWS) return
      this.#rows.delete(oldest)
    }
  }

  get(execution_id: string): Execution | undefined {
    return this.#rows.get(execution_id)
  }

  delete(execution_id: string): void {
    this.#rows.delete(execution_id)
  }
}

/** Small, and about to be changed again without a look at its approvals. */
const isCacheable = ({ state, gated, input_json = '', pause_output_json = '' }: Execution) =>
  !isTerminal(state) &&
  !gated &&
  input_json.length <= MAX_PAYLOAD_LENGTH &&
  pause_output_json.length <= MAX_PAYLOAD_LENGTH
