import type { Load, Offer } from '@windlass/proto/windlass/executions/v1/executions'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import { factsOf, type Metrics } from './facts.ts'
import { type Capabilities, meets } from './matching.ts'

/** Connected worker that can be offered for work. */
export interface CandidateWorker {
  name: string
  session_id: string
  connection_generation: number
  /** Maximum number of executions at once; 0: no limit. */
  capacity: number
  /** Executions that it holds, as estimated by this process (load.ts). */
  used: number
  /** Its first checkpoint may be the claim. */
  claims_by_delivery: boolean
  /** It continues the compensations of cancelled executions. */
  continues_cancelled: boolean
  isHealthy: boolean
  /** True while its stream is below the high-water mark. */
  isWritable: boolean
  capabilities: Capabilities
  /** Newest metrics; loaded only when a routing policy uses metrics. */
  metrics?: Metrics
}

/** Requirement of queued work, with the cached results of matching it. */
export interface RequirementEntry {
  requirement_id: string
  requirement: Requirement
  /** Result for each worker record. A changed record is a new object, so no entry is ever outdated. */
  matches: WeakMap<Capabilities, boolean>
  /** Facts about workers that its routing policy uses. */
  selectors: readonly string[]
  /** True if a connected worker meets it, and the fleet version of that answer. */
  matchable?: { fleetVersion: number; value: boolean }
}

type Workers = Iterable<CandidateWorker>
type Entries = readonly RequirementEntry[]

const MAX_OFFERS = 512
const MAX_REQUIREMENTS_PER_OFFER = 256

/**
 * Offers healthy, writable workers with a free slot for the queued work that they match. With `ignoreLoad`,
 * workers that seem full are offered too: the estimate may be wrong, and the lease checks capacity.
 */
export function offersFor(
  workers: Workers,
  entries: Entries,
  { ignoreLoad }: { ignoreLoad: boolean },
): Offer[] {
  const offers: Offer[] = []
  if (entries.length === 0) return offers
  const selectors = collectSelectors(entries)
  for (const worker of workers) {
    if (!worker.isHealthy || !worker.isWritable || !(ignoreLoad || hasFreeSlot(worker))) continue
    const requirement_ids = metRequirements(entries, worker.capabilities)
    if (requirement_ids.length === 0) continue
    const facts = factsOf(selectors, worker.capabilities, worker.metrics)
    offers.push(toOffer(worker, requirement_ids, facts))
    if (offers.length === MAX_OFFERS) break
  }
  return offers
}

const toOffer = (worker: CandidateWorker, requirement_ids: string[], facts = {}): Offer => ({
  worker_name: worker.name,
  session_id: worker.session_id,
  connection_generation: worker.connection_generation,
  capacity: worker.capacity,
  requirement_ids,
  facts,
  used: worker.used,
  claims_by_delivery: worker.claims_by_delivery,
  continues_cancelled: worker.continues_cancelled,
})

const MAX_EXPECTED_OFFERS = 32

/**
 * Offers for the long poll, before the work is queued: idle workers first, then the least loaded, few
 * enough to be sent often. Requirements with a routing policy are left out, because ranking needs all
 * workers.
 */
export function offersForExpectedWork(workers: Workers, entries: Entries): Offer[] {
  const plain = entries.filter(({ requirement }) => !requirement.routing_json)
  const idle: Offer[] = []
  const busy: Offer[] = []
  if (plain.length === 0) return idle
  for (const worker of workers) {
    if (!worker.isHealthy || !worker.isWritable || !hasFreeSlot(worker)) continue
    const requirement_ids = metRequirements(plain, worker.capabilities)
    if (requirement_ids.length === 0) continue
    const kind = worker.used === 0 ? idle : busy
    kind.push(toOffer(worker, requirement_ids))
    if (idle.length === MAX_EXPECTED_OFFERS) return idle
  }
  busy.sort((a, b) => a.used - b.used)
  return [...idle, ...busy].slice(0, MAX_EXPECTED_OFFERS)
}

/**
 * Entries that a connected worker meets, with or without a free slot. The result of each entry is kept for
 * one `fleetVersion`: work that matches no worker costs one comparison per round, however large the fleet
 * is.
 */
export function filterMatchable(entries: Entries, workers: Workers, fleetVersion: number) {
  const unknown = entries.filter(({ matchable }) => matchable?.fleetVersion !== fleetVersion)
  const all = unknown.length > 0 ? [...workers] : []
  for (const entry of unknown) {
    const value = all.some(({ capabilities }) => isMetBy(entry, capabilities))
    entry.matchable = { fleetVersion, value }
  }
  return entries.filter(({ matchable }) => matchable?.value)
}

/** Number of healthy workers that meet an entry, with or without a free slot. */
export function countEligible(entry: RequirementEntry, workers: Workers): number {
  let count = 0
  for (const { isHealthy, capabilities } of workers)
    if (isHealthy && isMetBy(entry, capabilities)) count++
  return count
}

/** Facts about workers that the routing policies of these entries use. */
export const collectSelectors = (entries: Entries): string[] => [
  ...new Set(entries.flatMap(({ selectors }) => selectors)),
]

/**
 * Returns the requirements that have no queued work after a complete lease, because a worker that meets
 * them still has a free slot. If all matching workers are full, work of the requirement may still be
 * queued.
 */
export function exhaustedRequirements(offers: readonly Offer[], loads: readonly Load[]) {
  const used = new Map(loads.map((load) => [load.worker_name, load.used]))
  const spare = offers.filter(({ worker_name, capacity }) =>
    hasFreeSlot({ capacity, used: used.get(worker_name) ?? 0 }),
  )
  return new Set(spare.flatMap(({ requirement_ids }) => requirement_ids))
}

type Slots = Pick<CandidateWorker, 'capacity' | 'used'>

const hasFreeSlot = ({ capacity, used }: Slots): boolean => capacity === 0 || used < capacity

function metRequirements(entries: Entries, capabilities: Capabilities): string[] {
  const ids: string[] = []
  for (const entry of entries) {
    if (isMetBy(entry, capabilities)) ids.push(entry.requirement_id)
    if (ids.length === MAX_REQUIREMENTS_PER_OFFER) break
  }
  return ids
}

function isMetBy({ requirement, matches }: RequirementEntry, capabilities: Capabilities): boolean {
  const known = matches.get(capabilities)
  if (known !== undefined) return known
  const isMet = meets(requirement, capabilities)
  matches.set(capabilities, isMet)
  return isMet
}
