import type { ExecutionsService, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import { Batcher } from '@windlass/runtime/batcher'
import type { Logger } from '@windlass/runtime/process/log'
import { cancelFrame } from './domain/frame.ts'
import type { Sessions } from './sessions.ts'

interface Due {
  worker_name: string
  execution_id: string
}

const LANES = 16
/** A log beyond this is told in part: to stop, a worker needs to know which execution, not its whole past. */
const MAX_LOG_CHARS = 1_048_576

/** Tells workers to stop what someone asked to cancel. Repeated from outside until the execution has ended. */
export class Cancellations {
  readonly #executions: Pick<RpcClient<ExecutionsService>, 'log'>
  readonly #sessions: Sessions
  readonly #log: Logger
  readonly #lanes = new Batcher<Due, undefined>((due) => this.#tell(due), {
    concurrency: LANES,
    maxBatchSize: 1,
  })

  constructor(
    executions: Pick<RpcClient<ExecutionsService>, 'log'>,
    sessions: Sessions,
    log: Logger,
  ) {
    this.#executions = executions
    this.#sessions = sessions
    this.#log = log
  }

  due(worker_name: string, execution_id: string): void {
    const session = this.#sessions.get(worker_name)
    if (session?.tellsCancel(execution_id, performance.now()))
      void this.#lanes.add({ worker_name, execution_id })
  }

  async #tell(due: readonly Due[]): Promise<undefined[]> {
    for (const { worker_name, execution_id } of due) {
      try {
        const { execution, entries } = await this.#read(execution_id)
        const wanted = execution?.state === 'CANCELLING' && execution.worker_name === worker_name
        if (execution && wanted)
          this.#sessions.get(worker_name)?.stream.send(cancelFrame(execution, entries))
      } catch (error) {
        this.#log.warn({ err: error, execution_id, worker_name }, 'cancellation was not told')
      }
    }
    return []
  }

  async #read(execution_id: string) {
    const entries: LogEntry[] = []
    let chars = 0
    for (;;) {
      const after_seq = entries.at(-1)?.seq ?? 0
      const page = await this.#executions.log({ execution_id, after_seq, limit: 0 })
      entries.push(...page.entries)
      for (const { value_json } of page.entries) chars += value_json.length
      if (!page.more || page.entries.length === 0 || chars > MAX_LOG_CHARS)
        return { execution: page.execution, entries }
    }
  }
}
