import { Batcher } from '@windlass/runtime/batcher'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { toWorkerState } from './capabilities.ts'
import type { ConnectedWorkers } from './connected-workers.ts'
import * as streams from './store/streams.ts'
import type { Change } from './store/watch.ts'

/** Keeps the sessions here in step with what is stored about their workers. */
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

  /** Closes streams that lost their place and reads anew what changed. */
  applyChanges(changes: readonly Change[]): void {
    for (const { name, connection_generation, changed_at } of changes) {
      this.#workers.closeOlder(name, connection_generation, 'superseded')
      if (this.#workers.get(name)?.changed_at !== changed_at) this.refresh(name)
    }
  }

  /** Reads a worker anew, if its stream is here. */
  refresh(name: string): void {
    if (!this.#workers.get(name)) return
    this.#reads
      .add(name)
      .catch((error) => this.#log.warn({ err: error }, 'worker was not read anew'))
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
