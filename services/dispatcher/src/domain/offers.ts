import type { Load, Offer } from '@windlass/proto/windlass/executions/v1/executions'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import { factsOf, type Metrics } from './facts.ts'
import { type Abilities, meets } from './matching.ts'

/** A worker that could be given work. */
export interface Seat {
  name: string
  session_id: string
  generation: number
  /** 0: unlimited. */
  capacity: number
  /** How much it holds, as far as this process knows. */
  used: number
  healthy: boolean
  /** Its stream has room for frames. */
  drained: boolean
  abilities: Abilities
  /** Its newest metrics, where a policy asks for them. */
  metrics?: Metrics
}

/** A requirement that has queued work, and which workers were found to meet it. */
export interface Need {
  requirement_id: string
  requirement: Requirement
  verdicts: WeakMap<Abilities, boolean>
  /** What its routing policy asks about workers. */
  selectors: readonly string[]
  /** Whether any worker meets it, and of which fleet that was said. */
  hope?: { fleet: number; is: boolean }
}

const MAX_OFFERS = 512
const MAX_NEEDS_PER_OFFER = 256

/**
 * Offers the workers that are fit and may have room for queued work that they can do. `regardless`
 * distrusts what is known of their load: the lease checks capacity itself.
 */
export function offersFor(
  seats: Iterable<Seat>,
  needs: readonly Need[],
  { regardless }: { regardless: boolean },
): Offer[] {
  const offers: Offer[] = []
  if (needs.length === 0) return offers
  const selectors = selectorsAmong(needs)
  for (const seat of seats) {
    if (!seat.healthy || !seat.drained || !(regardless || hasRoom(seat))) continue
    const requirement_ids = met(needs, seat.abilities)
    if (requirement_ids.length === 0) continue
    offers.push(offerOf(seat, requirement_ids, factsOf(selectors, seat.abilities, seat.metrics)))
    if (offers.length === MAX_OFFERS) break
  }
  return offers
}

const offerOf = (seat: Seat, requirement_ids: string[], facts: Offer['facts']): Offer => ({
  worker_name: seat.name,
  session_id: seat.session_id,
  connection_generation: seat.generation,
  capacity: seat.capacity,
  requirement_ids,
  facts,
  used: seat.used,
})

const MAX_STANDING_OFFERS = 32

/**
 * Offers for work that is not there yet: idle workers before busy ones, few enough to be sent often.
 * `needs` are those to be prepared for; one with a routing policy is not, since that is to see all workers.
 */
export function standingOffers(seats: Iterable<Seat>, needs: readonly Need[]): Offer[] {
  const plain = needs.filter(({ requirement }) => !requirement.routing_json)
  const idle: Offer[] = []
  const busy: Offer[] = []
  if (plain.length === 0) return idle
  for (const seat of seats) {
    if (!seat.healthy || !seat.drained || !hasRoom(seat)) continue
    const requirement_ids = met(plain, seat.abilities)
    if (requirement_ids.length === 0) continue
    const kind = seat.used === 0 ? idle : busy
    kind.push(offerOf(seat, requirement_ids, {}))
    if (idle.length === MAX_STANDING_OFFERS) return idle
  }
  busy.sort((a, b) => a.used - b.used)
  return [...idle, ...busy].slice(0, MAX_STANDING_OFFERS)
}

/**
 * Those needs that any worker here meets, whether it has room or not. `fleet` is another number
 * whenever a worker came, left or changed: until then, work that nobody can do costs one look a round.
 */
export function hopeful(needs: readonly Need[], seats: Iterable<Seat>, fleet: number): Need[] {
  const unknown = needs.filter(({ hope }) => hope?.fleet !== fleet)
  const all = unknown.length > 0 ? [...seats] : []
  for (const need of unknown)
    need.hope = { fleet, is: all.some(({ abilities }) => verdictOn(need, abilities)) }
  return needs.filter(({ hope }) => hope?.is)
}

/** Everything that the policies of these needs ask about workers. */
export const selectorsAmong = (needs: readonly Need[]): string[] => [
  ...new Set(needs.flatMap((need) => need.selectors)),
]

/**
 * The requirements of which nothing is left in the queue after a lease that left nothing behind for
 * lack of time: a worker that meets them went away with room to spare. While all who meet one are
 * full, its work may go on waiting.
 */
export function drained(offers: readonly Offer[], loads: readonly Load[]): Set<string> {
  const used = new Map(loads.map((load) => [load.worker_name, load.used]))
  const spare = offers.filter(({ worker_name, capacity }) =>
    hasRoom({ capacity, used: used.get(worker_name) ?? 0 }),
  )
  return new Set(spare.flatMap(({ requirement_ids }) => requirement_ids))
}

const hasRoom = ({ capacity, used }: Pick<Seat, 'capacity' | 'used'>): boolean =>
  capacity === 0 || used < capacity

function met(needs: readonly Need[], abilities: Abilities): string[] {
  const ids: string[] = []
  for (const need of needs) {
    if (verdictOn(need, abilities) && ids.push(need.requirement_id) === MAX_NEEDS_PER_OFFER) break
  }
  return ids
}

function verdictOn({ requirement, verdicts }: Need, abilities: Abilities): boolean {
  const known = verdicts.get(abilities)
  if (known !== undefined) return known
  const verdict = meets(requirement, abilities)
  verdicts.set(abilities, verdict)
  return verdict
}
