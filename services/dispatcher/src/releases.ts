import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { Db } from '@windlass/runtime/db'
import { Gather } from '@windlass/runtime/gather'
import type { Logger } from '@windlass/runtime/log'
import type { RpcClient } from '@windlass/runtime/rpc-client'
import { released } from './store/watch.ts'
import type { Connection } from './store/workers.ts'

const LANES = 8
const REQUEUE_MS = 5_000
/** Work is returned in portions until none is left. */
const MAX_PORTIONS = 1_000

/** Returns the work of lost workers to the queue. What fails is found and tried again by the tick. */
export class Releases {
  readonly #db: Db
  readonly #executions: Pick<RpcClient<ExecutionsService>, 'requeue'>
  readonly #log: Logger
  readonly #underWay = new Set<string>()
  readonly #lanes = new Gather<Connection, undefined>((lost) => this.#release(lost), {
    lanes: LANES,
    maxItems: 1,
  })

  constructor(db: Db, executions: Pick<RpcClient<ExecutionsService>, 'requeue'>, log: Logger) {
    this.#db = db
    this.#executions = executions
    this.#log = log
  }

  begin(lost: readonly Connection[]): void {
    for (const connection of lost) {
      if (this.#underWay.has(keyOf(connection))) continue
      this.#underWay.add(keyOf(connection))
      void this.#lanes.add(connection)
    }
  }

  async #release(lost: readonly Connection[]): Promise<undefined[]> {
    for (const connection of lost) {
      const { name: worker_name, connection_generation } = connection
      try {
        let count = 0
        for (let portion = 0; portion < MAX_PORTIONS; portion++) {
          const request = { worker_name, connection_generation, died: true }
          const { requeued } = await this.#executions.requeue(request, { timeoutMs: REQUEUE_MS })
          count += requeued
          if (requeued === 0) break
        }
        await released(this.#db, connection)
        this.#log.info({ worker_name, connection_generation, count }, 'work released')
      } catch (error) {
        this.#log.warn({ err: error, worker_name }, 'work is not released yet')
      } finally {
        this.#underWay.delete(keyOf(connection))
      }
    }
    return []
  }
}

const keyOf = ({ name, connection_generation }: Connection) => `${connection_generation} ${name}`
