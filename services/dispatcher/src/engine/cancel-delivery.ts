import type {
  Execution,
  ExecutionsService,
  LogEntry,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { CancelDue } from '@windlass/proto/windlass/signals/v1/signals'
import type { RpcClient } from '@windlass/rpc/client'
import { Batcher } from '@windlass/runtime/batcher'
import type { Logger } from '@windlass/runtime/process/log'
import { cancelFrame } from '../domain/frame.ts'
import type { ConnectedWorkers } from './connected-workers.ts'

type Executions = Pick<RpcClient<ExecutionsService>, 'log'>

interface DueCancel extends CancelDue {
  worker_name: string
}

const CONCURRENCY = 16
/** Longer logs are sent in part: to stop an execution, a worker needs its id, not its whole history. */
const MAX_LOG_CHARS = 1_048_576

/**
 * Sends cancel frames for executions whose cancellation was requested. The executions service repeats
 * the signal until the execution is terminal, so a frame that is lost is sent again.
 */
export class CancelDelivery {
  readonly #executions: Executions
  readonly #workers: ConnectedWorkers
  readonly #log: Logger
  readonly #batcher = new Batcher<DueCancel, undefined>((due) => this.#deliver(due), {
    concurrency: CONCURRENCY,
    maxBatchSize: 1,
  })

  constructor(executions: Executions, workers: ConnectedWorkers, log: Logger) {
    this.#executions = executions
    this.#workers = workers
    this.#log = log
  }

  enqueue(worker_name: string, due: CancelDue): void {
    const worker = this.#workers.get(worker_name)
    if (worker?.shouldSendCancel(due.execution_id, performance.now()))
      void this.#batcher.add({ ...due, worker_name })
  }

  async #deliver(due: readonly DueCancel[]): Promise<undefined[]> {
    for (const cancel of due) {
      const { worker_name, execution_id } = cancel
      try {
        const { execution, entries } = await this.#readLog(execution_id)
        const worker = this.#workers.get(worker_name)
        if (!worker || !execution || !isDue(execution, cancel)) continue
        const namesClaim = worker.continues_cancelled
        worker.stream.send(cancelFrame(execution, entries, { namesClaim }))
      } catch (error) {
        this.#log.warn({ err: error, execution_id, worker_name }, 'failed to send cancellation')
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

/**
 * False also if the worker has lost the execution meanwhile and got it again: that dispatch is itself the
 * request to cancel, and a frame before it would end the execution without its compensations.
 */
const isDue = (execution: Execution, { worker_name, claim_generation }: DueCancel): boolean =>
  execution.state === 'CANCELLING' &&
  execution.worker_name === worker_name &&
  (claim_generation ?? execution.claim_generation) === execution.claim_generation
