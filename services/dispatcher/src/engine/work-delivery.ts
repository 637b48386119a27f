import type {
  Execution,
  ExecutionsService,
  Lease,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import type { Logger } from '@windlass/runtime/process/log'
import type { StallWatch } from '@windlass/runtime/process/stall-watch'
import { dispatchFrame } from '../domain/frame.ts'
import { dispatched } from '../metrics.ts'
import type { ConnectedWorkers } from './connected-workers.ts'
import type { HeartbeatBuffer } from './heartbeat-buffer.ts'
import { LeaseExtensions } from './lease-extensions.ts'
import { type LeaseId, RecentLeases } from './recent-leases.ts'
import { traceDispatch } from './trace-dispatch.ts'
import type { WorkflowCache } from './workflow-cache.ts'

const MAX_IN_FLIGHT = 1_024
/** A frame that is written this long after its lease was read has to be claimed. */
const LATE_MS = 1_000

interface DeliveryDeps {
  executions: Pick<RpcClient<ExecutionsService>, 'submit'>
  workers: ConnectedWorkers
  workflows: WorkflowCache
  heartbeats: HeartbeatBuffer
  stalls: StallWatch
  log: Logger
}

/**
 * Writes leased executions to the streams of their workers. An execution is released at once, under its own
 * claim generation, if its worker is no longer connected here, is unhealthy, is still reading large frames
 * or is behind a gateway that hangs. If writing its frame or releasing it fails, it returns to the queue at
 * the claim deadline (`claim_timeout`).
 *
 * A lease that is late may have been taken back, and its execution given to another worker: because no receipt came
 * for it while this process did not run, or because its deadline passed while a service did not answer. Workers
 * have to claim such a lease, so that no task runs twice.
 */
export class WorkDelivery {
  readonly #executions: DeliveryDeps['executions']
  readonly #workers: ConnectedWorkers
  readonly #workflows: WorkflowCache
  readonly #stalls: StallWatch
  readonly #log: Logger
  readonly #inFlight = new Set<Promise<void>>()
  readonly #extensions: LeaseExtensions
  readonly #recent = new RecentLeases()
  #leases = 0

  constructor({ executions, workers, workflows, heartbeats, stalls, log }: DeliveryDeps) {
    this.#executions = executions
    this.#workers = workers
    this.#workflows = workflows
    this.#stalls = stalls
    this.#log = log
    this.#extensions = new LeaseExtensions(executions, log, ({ name, session_id }) =>
      heartbeats.recordProgress({ name, session_id }, performance.now()),
    )
  }

  /** Number of leases whose frames have not been written. */
  get undelivered(): number {
    return this.#leases
  }

  /** False while too many leases are undelivered; no more work is leased until then. */
  get hasCapacity(): boolean {
    return this.#leases < MAX_IN_FLIGHT
  }

  /**
   * Starts to deliver leases; failures are logged, and the claim deadline returns the work. `isLate`: they may have
   * been committed a while ago.
   */
  send(leases: readonly Lease[], { isLate = false } = {}): void {
    const lateFromMs = isLate || this.#stalls.mayBeLate ? 0 : performance.now() + LATE_MS
    for (const batch of groupByWorkflow(leases)) {
      this.#leases += batch.leases.length
      const delivery = this.#deliver(batch, lateFromMs).finally(() => {
        this.#leases -= batch.leases.length
        this.#inFlight.delete(delivery)
      })
      this.#inFlight.add(delivery)
    }
  }

  /**
   * Releases leases that were sent a moment ago through gateways that hang, unless they are claimed or are
   * known to have reached their workers, which may already run them.
   */
  async releaseUnreachable(): Promise<void> {
    const leases = this.#recent.takeUndelivered((worker) => worker.isGatewayHung)
    if (leases.length === 0) return
    try {
      await this.#release(leases, 'gateway hangs')
    } catch (error) {
      this.#log.warn({ err: error }, 'failed to release work of a gateway that hangs')
    }
  }

  async whenIdle(): Promise<void> {
    await Promise.all(this.#inFlight)
    this.#extensions.stop()
  }

  /** `lateFromMs`: time from which a frame has to be claimed. */
  async #deliver({ worker_name, workflow_id, leases }: Batch, lateFromMs: number): Promise<void> {
    try {
      const part = await this.#workflows.get(workflow_id)
      const claimable = this.#isLate(lateFromMs) ? leases.map(withoutClaim) : leases
      const worker = this.#workers.get(worker_name)
      const frames: string[] = []
      const sent: Execution[] = []
      const undeliverable: Execution[] = []
      // Another frame would close the stream while a large one is being read.
      const isFull = worker?.stream.isFull === true
      const canReceive = worker?.isHealthy && !worker.isGatewayHung && !isFull
      for (const lease of claimable) {
        const { worker_session } = lease.execution
        // The name may belong to another process by now; the lease is for the earlier session.
        const isCurrent = worker_session === '' || worker_session === worker?.session_id
        if (isCurrent && canReceive) {
          const { traceparent, end } = traceDispatch(lease)
          const form = worker.workflowForm(workflow_id, part.workflow.length)
          frames.push(dispatchFrame(lease, part, { form, traceparent }))
          end()
          sent.push(lease.execution)
        } else undeliverable.push(lease.execution)
      }
      if (worker && frames.length > 0) {
        const { stream } = worker
        const start = stream.pushedBytes
        stream.send(...frames)
        this.#extensions.track(worker, sent, stream.pushedBytes - start)
        this.#recent.add(worker, sent)
        dispatched.add(sent.length, { outcome: 'sent' })
      }
      if (undeliverable.length > 0) await this.#release(undeliverable, 'worker cannot receive it')
    } catch (error) {
      dispatched.add(leases.length, { outcome: 'failed' })
      this.#log.warn({ err: error, worker_name }, 'failed to deliver work')
    }
  }

  /** This process may have stopped, or the source may have come late, since the leases were read. */
  #isLate(lateFromMs: number): boolean {
    return this.#stalls.mayBeLate || performance.now() >= lateFromMs
  }

  async #release(leases: readonly LeaseId[], reason: string): Promise<void> {
    const commands = leases.map(
      ({ execution_id, state, worker_name, worker_session: session_id, claim_generation }) => ({
        execution_id,
        with_log: false,
        body: {
          $case: 'release' as const,
          value: {
            writer: { worker_name, session_id, claim_generation },
            // A cancelled execution is held from its lease on.
            unclaimed_only: state !== 'CANCELLING',
          },
        },
      }),
    )
    await this.#executions.submit({ commands })
    dispatched.add(commands.length, { outcome: 'released' })
    const worker_names = [...new Set(leases.map(({ worker_name }) => worker_name))]
    this.#log.info({ worker_names, count: commands.length }, `work released: ${reason}`)
  }
}

type Leased = Lease & { execution: Execution }

const withoutClaim = (lease: Leased): Leased => ({ ...lease, claim_ms: undefined })

/** Leases of one workflow for one worker: no delivery waits for the source of another workflow. */
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
