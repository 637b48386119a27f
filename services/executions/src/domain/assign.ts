import { type Policy, pickBest, type RankedWorker } from './routing.ts'

/** A queued execution. */
export interface QueuedWork {
  execution_id: string
  requirement_id: string
  preferred_worker?: string
  passed_over?: string
  /** Routing policy of the workflow; absent for resumed executions. */
  policy?: Policy
  /** Values of the input that the policy names, by path. */
  routing_inputs?: Readonly<Record<string, unknown>>
}

/** An offered worker with its free slots and the requirements that it meets. */
export interface CandidateWorker extends RankedWorker {
  /** Free slots; Infinity for no limit. */
  free: number
  requirement_ids: ReadonlySet<string>
}

export interface Assignment {
  execution_id: string
  worker_name: string
}

/**
 * Assigns work to workers in queue order, by the routing policy of the workflow. Without a policy the
 * preferred worker comes first, then the eligible worker with the least load. The worker whose lease of
 * this execution expired gets it only if no other worker is eligible.
 */
export function assign(queue: readonly QueuedWork[], workers: readonly CandidateWorker[]) {
  const left = workers.map((worker) => ({ ...worker }))
  const assignments: Assignment[] = []
  for (const work of queue) {
    const worker = choose(work, left)
    if (!worker) continue
    worker.free--
    worker.used++
    assignments.push({ execution_id: work.execution_id, worker_name: worker.worker_name })
  }
  return assignments
}

function choose(work: QueuedWork, workers: CandidateWorker[]): CandidateWorker | undefined {
  const { policy } = work
  return policy ? chooseByPolicy(work, policy, workers) : chooseByRank(work, workers)
}

const canTake = ({ requirement_id }: QueuedWork, worker: CandidateWorker): boolean =>
  worker.free > 0 && worker.requirement_ids.has(requirement_id)

function chooseByPolicy(work: QueuedWork, policy: Policy, workers: CandidateWorker[]) {
  const { preferred_worker, passed_over, routing_inputs: inputs = {} } = work
  const eligible = workers.filter((worker) => canTake(work, worker))
  const others = eligible.filter(({ worker_name }) => worker_name !== passed_over)
  return pickBest(policy, others.length > 0 ? others : eligible, { preferred_worker, inputs })
}

function chooseByRank(work: QueuedWork, workers: CandidateWorker[]): CandidateWorker | undefined {
  let best: CandidateWorker | undefined
  for (const worker of workers) {
    if (!canTake(work, worker)) continue
    if (!best || rank(work, worker) < rank(work, best)) best = worker
  }
  return best
}

/** Rank of a worker, lower is better; among equals the worker that was offered first is chosen. */
function rank(work: QueuedWork, { worker_name, used }: CandidateWorker): number {
  if (worker_name === work.passed_over) return Number.MAX_SAFE_INTEGER
  if (worker_name === work.preferred_worker) return -1
  return used
}
