import type { Offer } from '@windlass/proto/windlass/executions/v1/executions'
import { type Assignment, assign } from './domain/assign.ts'
import type { Execution } from './domain/execution.ts'
import { roomOf } from './offers.ts'

interface Waiting {
  offers: readonly Offer[]
  answer(assignments: Assignment[]): void
}

/**
 * Dispatchers that wait for work to be queued here, each until the first of it or until its time is
 * up. It spares newly queued work the way over the bus and back. Nothing rests on it: what nobody
 * waits for is told to all, and a lease is decided at the door, whoever asks for it.
 */
export class Standing {
  readonly #waiting = new Set<Waiting>()
  #isClosed = false

  /** Who is to have what; nothing when the time is up or one of the signals aborts. */
  wait(
    offers: readonly Offer[],
    ms: number,
    signals: readonly AbortSignal[],
  ): Promise<Assignment[]> {
    if (this.#isClosed || signals.some(({ aborted }) => aborted)) return Promise.resolve([])
    return new Promise((resolve) => {
      const answer = (assignments: Assignment[]) => {
        this.#waiting.delete(waiting)
        clearTimeout(timer)
        for (const signal of signals) signal.removeEventListener('abort', leave)
        resolve(assignments)
      }
      const leave = () => answer([])
      const timer = setTimeout(leave, ms)
      for (const signal of signals) signal.addEventListener('abort', leave, { once: true })
      const waiting = { offers, answer }
      this.#waiting.add(waiting)
    })
  }

  /** Hands out rows that were queued just now. Answers those that nobody here waits for. */
  take(rows: readonly Execution[]): readonly Execution[] {
    if (this.#waiting.size === 0 || rows.length === 0) return rows
    const owners = new Map<string, Waiting>()
    for (const waiting of this.#waiting)
      for (const { worker_name } of waiting.offers)
        if (!owners.has(worker_name)) owners.set(worker_name, waiting)
    const rooms = [...owners].map(([name, { offers }]) =>
      roomOf(offers.find(({ worker_name }) => worker_name === name) as Offer),
    )
    const assignments = assign(rows.filter(isPlain), rooms)
    const taken = new Set(assignments.map(({ execution_id }) => execution_id))
    for (const waiting of new Set(owners.values())) {
      const theirs = assignments.filter(({ worker_name }) => owners.get(worker_name) === waiting)
      if (theirs.length > 0) waiting.answer(theirs)
    }
    return rows.filter(({ execution_id }) => !taken.has(execution_id))
  }

  close(): void {
    this.#isClosed = true
    for (const { answer } of [...this.#waiting]) answer([])
  }
}

/** What has a wish is for whoever sees all workers of a dispatcher. */
const isPlain = ({ preferred_worker, passed_over }: Execution): boolean =>
  !preferred_worker && !passed_over
