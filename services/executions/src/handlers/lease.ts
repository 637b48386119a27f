/**
 * Leases: assignments of queued executions to workers.
 *
 * Problem
 *
 * Queued work has to reach exactly one worker, which meets its requirement and has a free slot, soon and
 * in the order of the queue. Many dispatchers call at once, at every replica, and each knows only its own
 * workers. A process that stops while it assigns work must not block the other processes, and a worker
 * that never receives its work must not keep it for long.
 *
 * The queue
 *
 * There is no queue table. A queued execution is a row with `queued_at`; the partial index
 * `executions_ready_by_namespace` orders those rows by requirement, namespace, key and id. The key is the
 * queue time minus ten seconds for each level of priority: a higher level always comes first, and an
 * execution that waits rises one level every ten seconds. Within a level the namespaces take turns
 * (store/ready.ts), so one with thousands of queued executions delays no other. Equal requirements
 * share one id (requirement.ts), so the dispatcher decides matching once for a requirement and a worker,
 * and the queue never inspects workers: a call names the requirements that its workers meet. The queue of
 * any other requirement is never scanned, however long it is.
 *
 * Protocol
 *
 *   dispatcher                        this service                         PostgreSQL
 *      |  Lease(offers, limit)             |                                   |
 *      |---------------------------------->|  first entries of the queue ----->|  no lock (pick-work.ts)
 *      |                                   |  loads of the workers ----------->|  no lock
 *      |                                   |  assign (domain/assign.ts)        |
 *      |                                   |  one `lease` command each         |
 *      |                                   |  execution writer --------------->|  lock of the worker
 *      |                                   |                                   |  row, if unchanged
 *      |                                   |                                   |    and a slot is free
 *      |  leases, loads, more              |                                   |
 *      |<----------------------------------|                                   |
 *      |  frame to the worker, which claims
 *
 *   queued --lease--> leased --claim, or its first checkpoint--> claimed
 *     ^                 |  release, eviction of the worker, or claim_timeout
 *     +-----------------+  each lease and each loss raises the fencing token (claim_generation)
 *
 * Entries are picked without locks, so several dispatchers may read the same ones; the execution
 * writer decides each lease again. A lease that comes too late is a no-op and not part of the answer.
 * `more` says that the dispatcher should call again at once.
 *
 * Two shortcuts avoid the queue, and nothing depends on them: a dispatcher that waits in a long poll
 * (await-work.ts) gets work as soon as it is queued, and an execution that is created meanwhile is
 * created and leased in one commit (engine/create.ts, ADR 13).
 *
 * Guarantees
 *
 *   - An execution has at most one holder: a lease is written only if the row is still queued.
 *   - A worker never holds more than its capacity. The write counts its rows under an advisory lock of
 *     its name, held to the commit (store/ready.ts); a `capacity` of 0 means no limit.
 *   - A lease that is not claimed within `claim_timeout` returns to the queue; the worker that let it
 *     expire gets it again only if no other one can take it (`passed_over`).
 *   - A lock on one queued row does not keep the others from being leased (D5).
 *   - An answer stays far below the size limit of a message, however large inputs and logs are: leases
 *     that do not fit return to the queue at once (lease-answer.ts).
 *
 * Not guaranteed
 *
 *   - Strict order: calls that run at the same time, and rows that do not fit a free worker, let later
 *     work pass. Within one call and one requirement the order is that of the queue.
 *   - A balanced load over workers of different dispatchers: a call knows the workers that it offers.
 *   - That the worker receives the lease. The database's clock decides: after `claim_timeout` the
 *     sweeper takes it back, at whatever replica, and a late claim is refused by its fencing token.
 *
 * Measurements (2 virtual cores, bench/README.md)
 *
 *   2026-11-22  Long poll and single rows written without arrays against the queue alone: p50 of one
 *               execution in flight 13.5 to 10.4 ms and 12.6 to 11.3 ms in two runs; 595 and 576 to
 *               583 and 609 executions/s at 64 in flight.
 *
 * Rejected
 *
 *   - `SELECT ... FOR UPDATE SKIP LOCKED` while picking, the common form of a queue in SQL: it holds
 *     locks while workers are assigned, and a batch of the writer would wait for them.
 *   - A counter of free slots per worker: it would have to be repaired after every crash; a count of
 *     rows by index need not be.
 *   - Pushing work to dispatchers: wake-ups may be lost, and a poll would be needed anyway.
 */
import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import type {
  LeaseRequest,
  LeaseResponse,
  Offer,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Call } from '@windlass/rpc/call'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Assignment } from '../domain/assign.ts'
import type { Execution } from '../domain/execution.ts'
import { NamespaceTurns } from '../engine/namespace-turns.ts'
import { pickWork } from '../engine/pick-work.ts'
import type { ExecutionWriter } from '../engine/writer.ts'
import { NO_LEASES, readLeases } from './lease-answer.ts'

const MAX_LEASES = 128

interface LeaseDeps {
  db: Db
  writer: ExecutionWriter
  tokens: ExecutionTokens
  /** Milliseconds until a lease that is not claimed ends. */
  claimMs: number
}

/** Leases queued work to the offered workers. The answer contains the leases that were committed. */
export const createLeaseHandler = ({ db, writer, tokens, claimMs }: LeaseDeps) => {
  const turns = new NamespaceTurns()
  return async (
    { offers, limit }: LeaseRequest,
    call: Pick<Call, 'signal' | 'onLost'>,
  ): Promise<LeaseResponse> => {
    const requirementIds = [...new Set(offers.flatMap((offer) => offer.requirement_ids))]
    const maxLeases = Math.min(limit || MAX_LEASES, MAX_LEASES)
    if (requirementIds.length === 0) return NO_LEASES
    const { assignments, namespaces, used, hasMore } = await pickWork(db, offers, {
      requirement_ids: requirementIds,
      limit: maxLeases,
      served: turns.order,
    })
    turns.record(namespaces)
    if (call.signal.aborted) return NO_LEASES
    const leased = await leaseAssignments(writer, offers, assignments)
    if (call.signal.aborted) {
      await releaseUndelivered(writer, leased)
      return NO_LEASES
    }
    releaseIfLost(writer, leased, call)
    const { leases, remaining } = await readLeases(db, writer.logs, { tokens, claimMs, leased })
    await releaseUndelivered(writer, remaining)
    for (const { worker_name = '' } of leased.slice(0, leases.length))
      used.set(worker_name, (used.get(worker_name) ?? 0) + 1)
    return {
      leases,
      loads: offers.map(({ worker_name }) => ({ worker_name, used: used.get(worker_name) ?? 0 })),
      more: hasMore || leases.length < assignments.length,
    }
  }
}

/** Submits a lease for each assignment. Returns the rows that were leased. */
export async function leaseAssignments(
  writer: ExecutionWriter,
  offers: readonly Offer[],
  assignments: readonly Assignment[],
): Promise<Execution[]> {
  const byName = new Map(offers.map((offer) => [offer.worker_name, offer]))
  const results = await Promise.all(
    assignments.map(async ({ execution_id, worker_name }) => {
      const offer = byName.get(worker_name) as Offer
      const command = { kind: 'lease', offer, capacity: offer.capacity } as const
      const result = await writer.submit({ execution_id, command })
      // A lease that comes too late answers the row unchanged, which another call may have leased to this
      // worker.
      return 'execution' in result && result.changed ? [result.execution] : []
    }),
  )
  return results.flat()
}

/** Returns leases to the queue if the dispatcher does not receive them, because it hangs or is gone. */
export function releaseIfLost(
  writer: ExecutionWriter,
  leased: readonly Execution[],
  call: Pick<Call, 'onLost'>,
): void {
  if (leased.length === 0) return
  // If the release fails, the deadlines of the leases return the work.
  call.onLost(() => void releaseUndelivered(writer, leased).catch(() => {}))
}

/**
 * Releases leases for a dispatcher that has disconnected or abandoned its call: no worker would receive
 * them.
 */
export async function releaseUndelivered(writer: ExecutionWriter, leased: readonly Execution[]) {
  await Promise.all(
    leased.map(({ execution_id, state, held_by = '', claim_generation }) => {
      const holder = { worker_name: held_by, session_id: '', claim_generation }
      const unclaimed_only = state !== 'CANCELLING'
      const command = { kind: 'release', holder, unclaimed_only } as const
      return writer.submit({ execution_id, command })
    }),
  )
  return []
}
