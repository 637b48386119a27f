import { favourite, type Policy, type Ranked } from './routing.ts'

/** Work that waits, in queue order. */
export interface Candidate {
  execution_id: string
  requirement_id: string
  preferred_worker?: string
  passed_over?: string
  /** How the workflow wants its workers ranked; only for what is not resumed. */
  policy?: Policy
  /** What the policy takes from the input, by path. */
  routing_inputs?: Readonly<Record<string, unknown>>
}

/** A worker with the room it has left and the requirements it meets. */
export interface Room extends Ranked {
  /** How many more it may hold; Infinity for no limit. */
  free: number
  requirement_ids: ReadonlySet<string>
}

export interface Assignment {
  execution_id: string
  worker_name: string
}

/**
 * Who takes what, in queue order: as the workflow's routing policy ranks them; without one the
 * preferred worker if it can, else the eligible one with the least work, so that load spreads; a
 * worker that let this very work expire only if nobody else can.
 */
export function assign(candidates: readonly Candidate[], rooms: readonly Room[]): Assignment[] {
  const left = rooms.map((room) => ({ ...room }))
  const assignments: Assignment[] = []
  for (const candidate of candidates) {
    const room = choose(candidate, left)
    if (!room) continue
    room.free--
    room.used++
    assignments.push({ execution_id: candidate.execution_id, worker_name: room.worker_name })
  }
  return assignments
}

function choose(candidate: Candidate, rooms: Room[]): Room | undefined {
  const { policy } = candidate
  return policy ? chooseByPolicy(candidate, policy, rooms) : chooseByRank(candidate, rooms)
}

const fits = ({ requirement_id }: Candidate, { free, requirement_ids }: Room): boolean =>
  free > 0 && requirement_ids.has(requirement_id)

function chooseByPolicy(candidate: Candidate, policy: Policy, rooms: Room[]): Room | undefined {
  const { preferred_worker, passed_over, routing_inputs: inputs = {} } = candidate
  const able = rooms.filter((room) => fits(candidate, room))
  const others = able.filter(({ worker_name }) => worker_name !== passed_over)
  return favourite(policy, others.length > 0 ? others : able, { preferred_worker, inputs })
}

function chooseByRank(candidate: Candidate, rooms: Room[]): Room | undefined {
  let best: Room | undefined
  for (const room of rooms) {
    if (!fits(candidate, room)) continue
    if (!best || rank(candidate, room) < rank(candidate, best)) best = room
  }
  return best
}

/** Lower is better. Ties go to the first offered. */
function rank({ preferred_worker, passed_over }: Candidate, { worker_name, used }: Room): number {
  if (worker_name === passed_over) return Number.MAX_SAFE_INTEGER
  if (worker_name === preferred_worker) return -1
  return used
}
