import { type Policy, pickBest, type RankedWorker } from './routing.ts'

/** Work that waits, in queue order. */
export interface QueuedWork {
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
export interface CandidateWorker extends RankedWorker {
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
export function assign(
  candidates: readonly QueuedWork[],
  rooms: readonly CandidateWorker[],
): Assignment[] {
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

function choose(candidate: QueuedWork, rooms: CandidateWorker[]): CandidateWorker | undefined {
  const { policy } = candidate
  return policy ? chooseByPolicy(candidate, policy, rooms) : chooseByRank(candidate, rooms)
}

const canTake = (
  { requirement_id }: QueuedWork,
  { free, requirement_ids }: CandidateWorker,
): boolean => free > 0 && requirement_ids.has(requirement_id)

function chooseByPolicy(
  candidate: QueuedWork,
  policy: Policy,
  rooms: CandidateWorker[],
): CandidateWorker | undefined {
  const { preferred_worker, passed_over, routing_inputs: inputs = {} } = candidate
  const able = rooms.filter((room) => canTake(candidate, room))
  const others = able.filter(({ worker_name }) => worker_name !== passed_over)
  return pickBest(policy, others.length > 0 ? others : able, { preferred_worker, inputs })
}

function chooseByRank(
  candidate: QueuedWork,
  rooms: CandidateWorker[],
): CandidateWorker | undefined {
  let best: CandidateWorker | undefined
  for (const room of rooms) {
    if (!canTake(candidate, room)) continue
    if (!best || rank(candidate, room) < rank(candidate, best)) best = room
  }
  return best
}

/** Lower is better. Ties go to the first offered. */
function rank(
  { preferred_worker, passed_over }: QueuedWork,
  { worker_name, used }: CandidateWorker,
): number {
  if (worker_name === passed_over) return Number.MAX_SAFE_INTEGER
  if (worker_name === preferred_worker) return -1
  return used
}
