import type { Offer } from '@windlass/proto/windlass/executions/v1/executions'
import type { Db } from '@windlass/runtime/postgres/db'
import { type Assignment, assign, type CandidateWorker } from '../domain/assign.ts'
import { HANDED_OVER } from '../domain/hand-over.ts'
import * as ready from '../store/ready.ts'
import { toCandidateWorker } from './offers.ts'

/** Entries that are read for each free slot: some may not fit a worker that has one. */
const ENTRIES_PER_SLOT = 2
const MIN_ENTRIES = 8

export interface PickedWork {
  assignments: readonly Assignment[]
  /** Namespace of each assignment. */
  namespaces: readonly string[]
  /** Number of executions that each offered worker holds. */
  used: Map<string, number>
  /** True if the queue may have further entries. */
  hasMore: boolean
}

/**
 * Assigns queued work to the offered workers, without locks. A worker under load frees one slot at a time, so
 * at first only as many entries are read as the slots need that are free by the dispatcher's estimate. All
 * entries, at most `limit`, are read if the first ones leave a slot free, or if no slot is free by the estimate.
 * Cancelled executions that wait for another worker come first, because they have a deadline.
 */
export async function pickWork(
  db: Db,
  offers: readonly Offer[],
  lookup: ready.QueueLookup,
): Promise<PickedWork> {
  const names = offers.map(({ worker_name }) => worker_name)
  const all = lookup.limit + 1
  const few = Math.min(all, entriesFor(freeSlots(offers.map((offer) => toCandidateWorker(offer)))))
  const read = (entries: number) => ready.listQueued(db, { ...lookup, limit: entries })
  const [first, loads] = await Promise.all([read(few), ready.loads(db, [...names, HANDED_OVER])])
  const used = new Map(loads.map((load) => [load.worker_name, load.used]))
  const handedOver = used.delete(HANDED_OVER) ? await ready.listHandedOver(db, lookup) : []
  const continuing = new Set(
    offers.flatMap((offer) => (offer.continues_cancelled ? offer.worker_name : [])),
  )
  const candidates = offers.map((offer) =>
    toCandidateWorker(offer, used.get(offer.worker_name) ?? 0),
  )
  const continued = assign(
    handedOver,
    candidates.filter(({ worker_name }) => continuing.has(worker_name)),
  )
  const workers = candidates.map((worker) => withAssigned(worker, continued))
  const assignTo = (queue: readonly ready.QueuedEntry[], size: number): PickedWork => {
    const entries = [...handedOver, ...queue]
    const namespaceOf = new Map(entries.map((one) => [one.execution_id, one.workflow_namespace]))
    const assignments = [...continued, ...assign(queue.slice(0, lookup.limit), workers)]
    const namespaces = assignments.map(({ execution_id }) => namespaceOf.get(execution_id) ?? '')
    return { assignments, namespaces, used, hasMore: queue.length === size }
  }
  const picked = assignTo(first, few)
  const isEnough = !picked.hasMore || picked.assignments.length >= freeSlots(candidates)
  return isEnough || few === all ? picked : assignTo(await read(all), all)
}

function withAssigned(
  worker: CandidateWorker,
  assignments: readonly Assignment[],
): CandidateWorker {
  const added = assignments.filter(({ worker_name }) => worker_name === worker.worker_name).length
  return added === 0 ? worker : { ...worker, free: worker.free - added, used: worker.used + added }
}

const freeSlots = (workers: readonly CandidateWorker[]): number =>
  workers.reduce((sum, { free }) => sum + Math.max(0, free), 0)

const entriesFor = (slots: number): number =>
  slots === 0 ? Number.POSITIVE_INFINITY : Math.max(MIN_ENTRIES, ENTRIES_PER_SLOT * slots)
