import type { Load, Offer } from '@windlass/proto/windlass/executions/v1/executions'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import { factsOf, type Metrics } from './facts.ts'
import { type Capabilities, meets } from './matching.ts'

/** A worker that could be given work. */
export interface CandidateWorker {
  name: string
  session_id: string
  connection_generation: number
  /** 0: unlimited. */
  capacity: number
  /** How much it holds, as far as this process knows. */
  used: number
  isHealthy: boolean
  /** Its stream has room for frames. */
  isWritable: boolean
  capabilities: Capabilities
  /** Its newest metrics, where a policy asks for them. */
  metrics?: Metrics
}

/** A requirement that has queued work, and which workers were found to meet it. */
export interface RequirementEntry {
  requirement_id: string
  requirement: Requirement
  matches: WeakMap<Capabilities, boolean>
  /** What its routing policy asks about workers. */
  selectors: readonly string[]
  /** Whether any worker meets it, and of which fleet that was said. */
  matchable?: { fleetVersion: number; value: boolean }
}

const MAX_OFFERS = 512
const MAX_REQUIREMENTS_PER_OFFER = 256

/**
 * Offers the workers that are fit and may have room for queued work that they can do. `ignoreLoad`
 * distrusts what is known of their load: the lease checks capacity itself.
 */
export function offersFor(
  workers: Iterable<CandidateWorker>,
  entries: readonly RequirementEntry[],
  { ignoreLoad }: { ignoreLoad: boolean },
): Offer[] {
  const offers: Offer[] = []
  if (entries.length === 0) return offers
  const selectors = collectSelectors(entries)
  for (const worker of workers) {
    if (!worker.isHealthy || !worker.isWritable || !(ignoreLoad || hasFreeSlot(worker))) continue
    const requirement_ids = metRequirements(entries, worker.capabilities)
    if (requirement_ids.length === 0) continue
    offers.push(
      toOffer(worker, requirement_ids, factsOf(selectors, worker.capabilities, worker.metrics)),
    )
    if (offers.length === MAX_OFFERS) break
  }
  return offers
}

const toOffer = (
  worker: CandidateWorker,
  requirement_ids: string[],
  facts: Offer['facts'],
): Offer => ({
  worker_name: worker.name,
  session_id: worker.session_id,
  connection_generation: worker.connection_generation,
  capacity: worker.capacity,
  requirement_ids,
  facts,
  used: worker.used,
})

const MAX_EXPECTED_OFFERS = 32

/**
 * Offers for work that is not there yet: idle workers before busy ones, few enough to be sent often.
 * `needs` are those to be prepared for; one with a routing policy is not, since that is to see all workers.
 */
export function offersForExpectedWork(
  workers: Iterable<CandidateWorker>,
  entries: readonly RequirementEntry[],
): Offer[] {
  const plain = entries.filter(({ requirement }) => !requirement.routing_json)
  const idle: Offer[] = []
  const busy: Offer[] = []
  if (plain.length === 0) return idle
  for (const worker of workers) {
    if (!worker.isHealthy || !worker.isWritable || !hasFreeSlot(worker)) continue
    const requirement_ids = metRequirements(plain, worker.capabilities)
    if (requirement_ids.length === 0) continue
    const kind = worker.used === 0 ? idle : busy
    kind.push(toOffer(worker, requirement_ids, {}))
    if (idle.length === MAX_EXPECTED_OFFERS) return idle
  }
  busy.sort((a, b) => a.used - b.used)
  return [...idle, ...busy].slice(0, MAX_EXPECTED_OFFERS)
}

/**
 * Those needs that any worker here meets, whether it has room or not. `fleet` is another number
 * whenever a worker came, left or changed: until then, work that nobody can do costs one look a round.
 */
export function filterMatchable(
  entries: readonly RequirementEntry[],
  workers: Iterable<CandidateWorker>,
  fleetVersion: number,
): RequirementEntry[] {
  const unknown = entries.filter(({ matchable }) => matchable?.fleetVersion !== fleetVersion)
  const all = unknown.length > 0 ? [...workers] : []
  for (const entry of unknown)
    entry.matchable = {
      fleetVersion: fleetVersion,
      value: all.some(({ capabilities }) => isMetBy(entry, capabilities)),
    }
  return entries.filter(({ matchable }) => matchable?.value)
}

/** Everything that the policies of these needs ask about workers. */
export const collectSelectors = (entries: readonly RequirementEntry[]): string[] => [
  ...new Set(entries.flatMap((need) => need.selectors)),
]

/**
 * The requirements of which nothing is left in the queue after a lease that left nothing behind for
 * lack of time: a worker that meets them went away with room to spare. While all who meet one are
 * full, its work may go on waiting.
 */
export function exhaustedRequirements(
  offers: readonly Offer[],
  loads: readonly Load[],
): Set<string> {
  const used = new Map(loads.map((load) => [load.worker_name, load.used]))
  const spare = offers.filter(({ worker_name, capacity }) =>
    hasFreeSlot({ capacity, used: used.get(worker_name) ?? 0 }),
  )
  return new Set(spare.flatMap(({ requirement_ids }) => requirement_ids))
}

const hasFreeSlot = ({ capacity, used }: Pick<CandidateWorker, 'capacity' | 'used'>): boolean =>
  capacity === 0 || used < capacity

function metRequirements(
  entries: readonly RequirementEntry[],
  capabilities: Capabilities,
): string[] {
  const ids: string[] = []
  for (const entry of entries) {
    if (
      isMetBy(entry, capabilities) &&
      ids.push(entry.requirement_id) === MAX_REQUIREMENTS_PER_OFFER
    )
      break
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
