import type {
  ExecutionsService,
  LeaseResponse,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { ConnectedWorkers } from '../connected-workers.ts'
import { usesMetrics } from '../domain/facts.ts'
import {
  collectSelectors,
  exhaustedRequirements,
  filterMatchable,
  offersFor,
} from '../domain/offers.ts'
import type { ReadyQueueView } from '../ready-queue-view.ts'
import * as streams from '../store/streams.ts'
import type { WorkDelivery } from '../work-delivery.ts'

const POLL_INTERVAL_MS = 1_000
const MAX_LEASES = 256

export interface LeaseDeps {
  db: Db
  executions: Pick<RpcClient<ExecutionsService>, 'lease' | 'listReady'>
  workers: ConnectedWorkers
  queue: ReadyQueueView
  delivery: WorkDelivery
  /** What is queued is known anew. */
  onPolled(): void
  log: Logger
}

/**
 * Gives queued work to the workers here: one lease under way at most, and nudges that come
 * meanwhile make one more round. Once a second it looks by itself, and then offers every worker
 * that can do what is queued, whatever is believed of its load.
 */
export function createLeaseLoop(deps: LeaseDeps): Loop {
  /** Looks in between, at requirements that are new here, do not put the next one off. */
  let polledAtMs = Number.NEGATIVE_INFINITY
  const turn = { start: 0 }

  const leaseOnce = async (): Promise<boolean> => {
    const { workers, queue, delivery } = deps
    if (workers.size === 0 || !delivery.hasCapacity) return false
    const now_ms = performance.now()
    const isPollDue = now_ms - polledAtMs >= POLL_INTERVAL_MS
    if (isPollDue) polledAtMs = now_ms
    if (isPollDue || queue.hasUnknownRequirements) await pollReadyQueue(deps)
    const more = await leaseAssignments(deps, turn, isPollDue)
    deps.onPolled()
    return more
  }

  return loop({ name: 'lease', pauseMs: POLL_INTERVAL_MS, log: deps.log }, async () => {
    try {
      return await leaseOnce()
    } catch (error) {
      // Not thrown on: the loop would pause ever longer, and work must flow a second after the outage.
      deps.log.warn({ err: error }, 'no work can be leased')
      return false
    }
  })
}

async function pollReadyQueue({ executions, queue }: LeaseDeps): Promise<void> {
  const { version } = queue
  const { requirements } = await executions.listReady({ known_ids: queue.knownIds })
  queue.replaceListing(requirements, version)
}

/** Answers whether there is more to be had at once. */
async function leaseAssignments(deps: LeaseDeps, turn: { start: number }, ignoreLoad: boolean) {
  const { executions, workers, queue, delivery } = deps
  const { version } = queue
  const entries = filterMatchable(queue.readyRequirements, workers, workers.fleetVersion)
  if (usesMetrics(collectSelectors(entries))) await loadMetrics(deps)
  const offers = offersFor(workers.iterateFrom(turn.start), entries, { ignoreLoad })
  if (offers.length === 0) return false
  turn.start += offers.length
  for (const { worker_name } of offers) workers.get(worker_name)?.load.countRequested()
  const result = await executions.lease({ offers, limit: MAX_LEASES })
  applyLoads(workers, result)
  if (!result.more) queue.markEmpty(exhaustedRequirements(offers, result.loads), version)
  delivery.send(result.leases)
  // All that it looked at may have been for full workers; from now on they are known to be full.
  return result.more && (ignoreLoad || result.leases.length > 0)
}

/** Policies rank by metrics that another dispatcher may have heard of: so they are read, for all workers here. */
async function loadMetrics({ db, workers }: LeaseDeps): Promise<void> {
  const rows = await streams.readMetrics(
    db,
    [...workers].map(({ name }) => name),
  )
  for (const { name, metrics } of rows) {
    const worker = workers.get(name)
    if (worker) worker.metrics = JSON.parse(metrics)
  }
}

function applyLoads(workers: ConnectedWorkers, { loads }: LeaseResponse): void {
  const now_ms = performance.now()
  for (const { worker_name, used } of loads) workers.get(worker_name)?.load.applyCount(used, now_ms)
}
