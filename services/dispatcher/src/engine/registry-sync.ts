import { Batcher } from '@windlass/runtime/batcher'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import * as streams from '../store/streams.ts'
import type { Change } from '../store/watch.ts'
import { toWorkerState } from './capabilities.ts'
import type { ConnectedWorkers } from './connected-workers.ts'

/**
 * Copies changes of stored worker records to the workers that are connected here: after a `revised`
 * signal, and from the rows that the tick finds changed. `onUpdate` runs after records were applied.
 */
export class WorkerRegistrySync {
  readonly #db: Db
  readonly #workers: ConnectedWorkers
  readonly #log: Logger
  readonly #reads = new Batcher<string, undefined>((names) => this.#reload(names))
  readonly #onUpdate: () => void

  constructor(db: Db, workers: ConnectedWorkers, log: Logger, onUpdate: () => void) {
    this.#db = db
    this.#workers = workers
    this.#log = log
    this.#onUpdate = onUpdate
  }

  /** Closes superseded streams and reloads the records that changed. */
  applyChanges(changes: readonly Change[]): void {
    for (const { name, connection_generation, changed_at } of changes) {
      this.#workers.closeOlder(name, connection_generation, 'superseded')
      if (this.#workers.get(name)?.changed_at !== changed_at) this.refresh(name)
    }
  }

  /** Reloads the record of a worker whose stream is held here. */
  refresh(name: string): void {
    if (!this.#workers.get(name)) return
    const onError = (error: unknown) => this.#log.warn({ err: error }, 'failed to reload worker')
    this.#reads.add(name).catch(onError)
  }

  async #reload(names: readonly string[]): Promise<undefined[]> {
    for (const row of await streams.readWorkerStates(this.#db, [...new Set(names)])) {
      this.#workers.closeOlder(row.name, row.connection_generation, 'superseded')
      this.#workers.applyRecord(row.name, toWorkerState(row))
    }
    this.#onUpdate()
    return []
  }
}
