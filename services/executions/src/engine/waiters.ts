import type { Offer } from '@windlass/proto/windlass/executions/v1/executions'
import { type Assignment, assign } from '../domain/assign.ts'
import type { Execution } from '../domain/execution.ts'
import { toCandidateWorker } from './offers.ts'

/** Well over what a lock is waited for, so that few are made late because of it. */
const RESERVATION_PAUSE_MS = 10_000

/** What became of a wait. */
export interface WaitResult {
  /** To be leased now. */
  assignments: readonly Assignment[]
  /** Leased in the commit that made them. */
  leased: readonly Execution[]
}

interface Waiter {
  offers: readonly Offer[]
  /** From here on nothing but `answer` ends the wait. */
  detach(): void
  answer(given: Partial<WaitResult>): void
}

/** Rows that will be queued, and who waits for them. */
export interface Reservation {
  offers: ReadonlyMap<string, Offer>
  /** Ends the waits with what was leased of it. To be called once, whatever happened. */
  settle(leased: readonly Execution[]): void
}

/**
 * Dispatchers that wait for work to be queued here, each until the first of it or until its time is
 * up. It spares newly queued work the way over the bus and back. Nothing rests on it: what nobody
 * waits for is told to all, and a lease is decided at the door, whoever asks for it.
 */
export class WaitingDispatchers {
  readonly #waiting = new Set<Waiter>()
  #isClosed = false
  #postponedUntilMs = 0

  /** Who is to have what; nothing when the time is up or one of the signals aborts. */
  wait(offers: readonly Offer[], ms: number, signals: readonly AbortSignal[]): Promise<WaitResult> {
    const nothing = { assignments: [], leased: [] }
    if (this.#isClosed || signals.some(({ aborted }) => aborted)) return Promise.resolve(nothing)
    return new Promise((resolve) => {
      const detach = () => {
        this.#waiting.delete(waiting)
        clearTimeout(timer)
        for (const signal of signals) signal.removeEventListener('abort', leave)
      }
      const answer = (given: Partial<WaitResult>) => {
        detach()
        resolve({ ...nothing, ...given })
      }
      const leave = () => answer({})
      const timer = setTimeout(leave, ms)
      for (const signal of signals) signal.addEventListener('abort', leave, { once: true })
      const waiting = { offers, detach, answer }
      this.#waiting.add(waiting)
    })
  }

  /** Hands out rows that were queued just now. Answers those that nobody here waits for. */
  assignQueued(rows: readonly Execution[]): readonly Execution[] {
    const shares = this.#share(rows)
    for (const [{ answer }, assignments] of shares) answer({ assignments })
    const taken = new Set([...shares.values()].flat().map(({ execution_id }) => execution_id))
    return rows.filter(({ execution_id }) => !taken.has(execution_id))
  }

  /** Decides who is to have rows that are about to be made, so that they are made and leased at once. */
  reserve(rows: readonly Execution[]): Reservation {
    const shares = this.#share(performance.now() < this.#postponedUntilMs ? [] : rows)
    const offers = new Map(
      [...shares].flatMap(([waiting, assignments]) =>
        assignments.map(({ execution_id, worker_name }) => [
          execution_id,
          offerIn(waiting, worker_name),
        ]),
      ),
    )
    const give = (leased: readonly Execution[]) => {
      for (const [{ answer }, assignments] of shares) {
        const theirs = new Set(assignments.map(({ execution_id }) => execution_id))
        answer({ leased: leased.filter(({ execution_id }) => theirs.has(execution_id)) })
      }
    }
    return { offers, settle: give }
  }

  /** Somebody hangs who is about to give work to a worker: for a while it is made first, then given. */
  pauseReservations(): void {
    this.#postponedUntilMs = performance.now() + RESERVATION_PAUSE_MS
  }

  close(): void {
    this.#isClosed = true
    for (const { answer } of [...this.#waiting]) answer({})
  }

  /** Who of those that wait gets what; they are held until they are answered. */
  #share(rows: readonly Execution[]): Map<Waiter, Assignment[]> {
    const shares = new Map<Waiter, Assignment[]>()
    const wanted = this.#waiting.size > 0 ? rows.filter(hasNoPreference) : []
    if (wanted.length === 0) return shares
    const owners = this.#owners()
    const rooms = [...owners].map(([name, waiting]) => toCandidateWorker(offerIn(waiting, name)))
    for (const assignment of assign(wanted, rooms)) {
      const waiting = owners.get(assignment.worker_name) as Waiter
      const share = shares.get(waiting)
      if (share) share.push(assignment)
      else shares.set(waiting, [assignment])
    }
    for (const { detach } of shares.keys()) detach()
    return shares
  }

  /** Who waits with each worker; the first, where a worker is moving from one dispatcher to another. */
  #owners(): Map<string, Waiter> {
    const owners = new Map<string, Waiter>()
    for (const waiting of this.#waiting)
      for (const { worker_name } of waiting.offers)
        if (!owners.has(worker_name)) owners.set(worker_name, waiting)
    return owners
  }
}

const offerIn = ({ offers }: Waiter, name: string): Offer =>
  offers.find(({ worker_name }) => worker_name === name) as Offer

/** What has a wish is for whoever sees all workers of a dispatcher. */
const hasNoPreference = ({ preferred_worker, passed_over }: Execution): boolean =>
  !preferred_worker && !passed_over
