import type { ExecutionsService, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import { Batcher } from '@windlass/runtime/batcher'
import type { Logger } from '@windlass/runtime/process/log'
import type { ConnectedWorkers } from './connected-workers.ts'
import { cancelFrame } from './domain/frame.ts'

interface DueCancel {
  worker_name: string
  execution_id: string
}

const CONCURRENCY = 16
/** A log beyond this is told in part: to stop, a worker needs to know which execution, not its whole past. */
const MAX_LOG_CHARS = 1_048_576

/** Tells workers to stop what someone asked to cancel. Repeated from outside until the execution has ended. */
export class CancelDelivery {
  readonly #executions: Pick<RpcClient<ExecutionsService>, 'log'>
  readonly #workers: ConnectedWorkers
  readonly #log: Logger
  readonly #batcher = new Batcher<DueCancel, undefined>((due) => this.#deliver(due), {
    concurrency: CONCURRENCY,
    maxBatchSize: 1,
  })

  constructor(
    executions: Pick<RpcClient<ExecutionsService>, 'log'>,
    workers: ConnectedWorkers,
    log: Logger,
  ) {
    this.#executions = executions
    this.#workers = workers
    this.#log = log
  }

  enqueue(worker_name: string, execution_id: string): void {
    const worker = this.#workers.get(worker_name)
    if (worker?.shouldSendCancel(execution_id, performance.now()))
      void this.#batcher.add({ worker_name, execution_id })
  }

  async #deliver(due: readonly DueCancel[]): Promise<undefined[]> {
    for (const { worker_name, execution_id } of due) {
      try {
        const { execution, entries } = await this.#readLog(execution_id)
        const isDue = execution?.state === 'CANCELLING' && execution.worker_name === worker_name
        if (execution && isDue)
          this.#workers.get(worker_name)?.stream.send(cancelFrame(execution, entries))
      } catch (error) {
        this.#log.warn({ err: error, execution_id, worker_name }, 'cancellation was not told')
      }
    }
    return []
  }

  async #readLog(execution_id: string) {
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
