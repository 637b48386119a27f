import { Batcher } from '@windlass/runtime/batcher'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { standingOf } from './abilities.ts'
import type { Sessions } from './sessions.ts'
import * as streams from './store/streams.ts'
import type { Change } from './store/watch.ts'

/** Keeps the sessions here in step with what is stored about their workers. */
export class Roster {
  readonly #db: Db
  readonly #sessions: Sessions
  readonly #log: Logger
  readonly #reads = new Batcher<string, undefined>((names) => this.#read(names))
  /** A worker may be given more than before. */
  onFit: () => void = () => {}

  constructor(db: Db, sessions: Sessions, log: Logger) {
    this.#db = db
    this.#sessions = sessions
    this.#log = log
  }

  /** Closes streams that lost their place and reads anew what changed. */
  learn(changes: readonly Change[]): void {
    for (const { name, connection_generation, changed_at } of changes) {
      this.#sessions.close(name, connection_generation, 'superseded')
      if (this.#sessions.get(name)?.changed_at !== changed_at) this.refresh(name)
    }
  }

  /** Reads a worker anew, if its stream is here. */
  refresh(name: string): void {
    if (!this.#sessions.get(name)) return
    this.#reads
      .add(name)
      .catch((error) => this.#log.warn({ err: error }, 'worker was not read anew'))
  }

  async #read(names: readonly string[]): Promise<undefined[]> {
    for (const row of await streams.fitness(this.#db, [...new Set(names)])) {
      this.#sessions.close(row.name, row.connection_generation, 'superseded')
      this.#sessions.stand(row.name, standingOf(row))
    }
    this.onFit()
    return []
  }
}
