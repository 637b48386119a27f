import type { ExecutionRow } from '../api/executions.ts'
import type { ListEvent } from './list-event.ts'

/** Rows that are kept; a list shows at most 1,000. */
const MAX_ROWS = 5_000

/** The last change of each execution that arrived as an event. */
export class RowChanges {
  readonly #rows = new Map<string, ExecutionRow | null>()
  readonly #revisions = new Map<string, number>()
  /** Number of the event that each row came with. */
  readonly #numbers = new Map<string, number>()
  #number = 0

  /** Number of the last event. */
  get number(): number {
    return this.#number
  }

  /** Takes an event; false if nothing is new about it, as for one that came twice. */
  take(event: ListEvent): boolean {
    if (event.kind !== 'row' || event.topic !== 'executions') return false
    const { id, row } = event
    const revision = event.revision ?? 0
    if (revision <= (this.#revisions.get(id) ?? -1)) return false
    this.#revisions.delete(id)
    this.#revisions.set(id, revision)
    this.#rows.set(id, row as ExecutionRow | null)
    this.#numbers.set(id, ++this.#number)
    this.#forgetOldest()
    return true
  }

  /** The newer one of a row that was read and the row of the last event; undefined if it is gone. */
  latest(row: ExecutionRow): ExecutionRow | undefined {
    const { execution_id: id, revision = -1 } = row
    const changed = this.#rows.get(id)
    if (changed === undefined || (this.#revisions.get(id) ?? -1) <= revision) return row
    return changed ?? undefined
  }

  /** Rows that came after an event, the last change first. */
  *since(number: number): Generator<ExecutionRow> {
    for (const id of [...this.#revisions.keys()].reverse()) {
      if ((this.#numbers.get(id) ?? 0) <= number) return
      const row = this.#rows.get(id)
      if (row) yield row
    }
  }

  #forgetOldest(): void {
    const [oldest] = this.#revisions.keys()
    if (this.#revisions.size <= MAX_ROWS || oldest === undefined) return
    this.#revisions.delete(oldest)
    this.#rows.delete(oldest)
    this.#numbers.delete(oldest)
  }
}
