import type {
  Execution,
  ExecutionsService,
  Lease,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import type { Logger } from '@windlass/runtime/process/log'
import type { ConnectedWorkers } from './connected-workers.ts'
import { dispatchFrame } from './domain/frame.ts'
import type { WorkflowCache } from './workflow-cache.ts'

const MAX_IN_FLIGHT = 1_024

type Executions = Pick<RpcClient<ExecutionsService>, 'submit'>

/** Brings leased work to its workers. What has nobody to be brought to is handed back. */
export class WorkDelivery {
  readonly #executions: Executions
  readonly #workers: ConnectedWorkers
  readonly #workflows: WorkflowCache
  readonly #log: Logger
  readonly #inFlight = new Set<Promise<void>>()
  #leases = 0

  constructor(
    executions: Executions,
    workers: ConnectedWorkers,
    workflows: WorkflowCache,
    log: Logger,
  ) {
    this.#executions = executions
    this.#workers = workers
    this.#workflows = workflows
    this.#log = log
  }

  /** Whether more work may be asked for, rather than first bringing what was. */
  get hasCapacity(): boolean {
    return this.#leases < MAX_IN_FLIGHT
  }

  send(leases: readonly Lease[]): void {
    for (const batch of groupByWorkflow(leases)) {
      this.#leases += batch.leases.length
      const delivery = this.#deliver(batch).finally(() => {
        this.#leases -= batch.leases.length
        this.#inFlight.delete(delivery)
      })
      this.#inFlight.add(delivery)
    }
  }

  async whenIdle(): Promise<void> {
    await Promise.all(this.#inFlight)
  }

  async #deliver({ worker_name, workflow_id, leases }: Batch): Promise<void> {
    try {
      const part = await this.#workflows.get(workflow_id)
      const worker = this.#workers.get(worker_name)
      const mine: string[] = []
      const others: Execution[] = []
      for (const lease of leases) {
        const { worker_session } = lease.execution
        // Another process may have the name by now; the work was not given to that one.
        const isMine = worker_session === '' || worker_session === worker?.session_id
        if (isMine && worker?.isHealthy) mine.push(dispatchFrame(lease, part))
        else others.push(lease.execution)
      }
      if (mine.length > 0) worker?.stream.send(...mine)
      if (others.length > 0) await this.#release(worker_name, others)
    } catch (error) {
      this.#log.warn({ err: error, worker_name }, 'work was not delivered')
    }
  }

  /** What is not even handed back is left to the claim's deadline. */
  async #release(worker_name: string, executions: readonly Execution[]): Promise<void> {
    const commands = executions.map(
      ({ execution_id, worker_session: session_id, claim_generation }) => ({
        execution_id,
        with_log: false,
        body: {
          $case: 'release' as const,
          value: { writer: { worker_name, session_id, claim_generation } },
        },
      }),
    )
    await this.#executions.submit({ commands })
    this.#log.info({ worker_name, count: commands.length }, 'worker left before its work came')
  }
}

type Leased = Lease & { execution: Execution }

/** Work of one workflow for one worker, so that none waits for the workflow of another. */
interface Batch {
  worker_name: string
  workflow_id: string
  leases: Leased[]
}

function groupByWorkflow(leases: readonly Lease[]): Iterable<Batch> {
  const batches = new Map<string, Batch>()
  for (const { execution, ...lease } of leases) {
    if (!execution) continue
    const { worker_name, workflow_id } = execution
    const key = `${workflow_id} ${worker_name}`
    const batch = batches.get(key) ?? { worker_name, workflow_id, leases: [] }
    batches.set(key, batch)
    batch.leases.push({ ...lease, execution })
  }
  return batches.values()
}
