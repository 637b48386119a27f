import type {
  ExecutionsService,
  LeaseRequest,
  LeaseResponse,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { RpcClient } from '@windlass/rpc/client'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import { waitAtMost } from '@windlass/runtime/timeout'
import { usesMetrics } from '../domain/facts.ts'
import {
  collectSelectors,
  exhaustedRequirements,
  filterMatchable,
  offersFor,
} from '../domain/offers.ts'
import type { ConnectedWorkers } from '../engine/connected-workers.ts'
import type { ReadyQueueView } from '../engine/ready-queue-view.ts'
import type { WorkDelivery } from '../engine/work-delivery.ts'
import * as streams from '../store/streams.ts'

const POLL_INTERVAL_MS = 1_000
const MAX_LEASES = 256
const LIST_TIMEOUT_MS = 2_000
/** After this time the next lease is requested; the late one is left to its replica, which may hang. */
const LEASE_WAIT_MS = 1_000
const MAX_LATE_LEASES = 4

export interface LeaseDeps {
  db: Db
  executions: Pick<RpcClient<ExecutionsService>, 'lease' | 'listReady'>
  workers: ConnectedWorkers
  queue: ReadyQueueView
  delivery: WorkDelivery
  /** Called after each round: the view of the ready queue is up to date. */
  onPolled(): void
  log: Logger
}

/**
 * Leases queued work for the workers connected here. At most one lease is in flight, besides those
 * that were not answered within LEASE_WAIT_MS: their work is delivered when the answer comes. Wake-ups
 * that arrive meanwhile cause one more round. Each second, as a fallback for lost wake-ups, it lists the ready
 * queue and offers every matching worker, whatever its estimated load.
 */
export function createLeaseLoop(deps: LeaseDeps): Loop {
  /** Time of the last poll. Listings between polls, for unknown requirements, do not postpone the next. */
  let polledAtMs = Number.NEGATIVE_INFINITY
  const turn: Turn = { start: 0, late: new Set() }

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

  const leaseLoop = loop({ name: 'lease', pauseMs: POLL_INTERVAL_MS, log: deps.log }, async () => {
    try {
      return await leaseOnce()
    } catch (error) {
      // Not rethrown, because the loop would back off, and work must flow within a second after an outage.
      deps.log.warn({ err: error }, 'failed to lease work')
      return false
    }
  })
  return {
    wake: leaseLoop.wake,
    async stop() {
      await leaseLoop.stop()
      await Promise.all(turn.late)
    },
  }
}

/** State that one round leaves to the next. */
interface Turn {
  /** Position of the first worker to offer. */
  start: number
  /** Leases that were not answered within LEASE_WAIT_MS. */
  late: Set<Promise<void>>
}

async function pollReadyQueue({ executions, queue }: LeaseDeps): Promise<void> {
  const { version } = queue
  const request = { known_ids: queue.knownIds }
  const { requirements } = await executions.listReady(request, { timeoutMs: LIST_TIMEOUT_MS })
  queue.replaceListing(requirements, version)
}

/** Leases once; returns true if more work can be leased immediately. */
async function leaseAssignments(deps: LeaseDeps, turn: Turn, ignoreLoad: boolean) {
  const { workers, queue, delivery } = deps
  const { version } = queue
  const entries = filterMatchable(queue.readyRequirements, workers, workers.fleetVersion)
  if (usesMetrics(collectSelectors(entries))) await loadMetrics(deps)
  const offers = offersFor(workers.iterateFrom(turn.start), entries, { ignoreLoad })
  if (offers.length === 0) return false
  turn.start += offers.length
  for (const { worker_name } of offers) workers.get(worker_name)?.load.countRequested()
  const result = await requestLeases(deps, turn, { offers, limit: MAX_LEASES })
  if (!result) return true
  applyLoads(workers, result)
  if (!result.more) queue.markEmpty(exhaustedRequirements(offers, result.loads), version)
  delivery.send(result.leases)
  // The candidates may all have been for full workers. Their loads are known now, so a retry would find
  // none.
  return result.more && (ignoreLoad || result.leases.length > 0)
}

/**
 * Requests leases; undefined if the answer takes longer than LEASE_WAIT_MS. A late answer is delivered when
 * it arrives.
 */
async function requestLeases(
  { executions, delivery, log }: LeaseDeps,
  { late }: Turn,
  request: LeaseRequest,
): Promise<LeaseResponse | undefined> {
  if (late.size >= MAX_LATE_LEASES) await Promise.race(late)
  let result: LeaseResponse | undefined
  const answer = executions.lease(request).then((response) => {
    result = response
  })
  await waitAtMost(LEASE_WAIT_MS, answer)
  if (result) return result
  log.warn('lease not answered in time; requesting another')
  const delivered = answer
    .then(() => delivery.send(result?.leases ?? [], { isLate: true }))
    .catch((error: unknown) => log.warn({ err: error }, 'failed to lease work'))
    .finally(() => late.delete(delivered))
  late.add(delivered)
  return undefined
}

/** Reads the metrics of all workers connected here: the newest pong may have reached another dispatcher. */
async function loadMetrics({ db, workers }: LeaseDeps): Promise<void> {
  const names = [...workers].map(({ name }) => name)
  for (const { name, metrics } of await streams.readMetrics(db, names)) {
    const worker = workers.get(name)
    if (worker) worker.metrics = JSON.parse(metrics)
  }
}

function applyLoads(workers: ConnectedWorkers, { loads }: LeaseResponse): void {
  const now_ms = performance.now()
  for (const { worker_name, used } of loads) workers.get(worker_name)?.load.applyCount(used, now_ms)
}
