import type { Offer } from '@windlass/proto/windlass/executions/v1/executions'
import { type Assignment, assign, type CandidateWorker } from '../domain/assign.ts'
import type { Execution } from '../domain/execution.ts'
import { toCandidateWorker } from './offers.ts'

/** Five lock timeouts, so that few creates wait for the lock of a hung process. */
const RESERVATION_PAUSE_MS = 10_000

export interface WaitResult {
  /** Assignments that still have to be leased. */
  assignments: readonly Assignment[]
  /** Executions that were leased in the commit that created them. */
  leased: readonly Execution[]
}

interface Waiter {
  /** By worker. */
  offers: Map<string, Offer>
  /** Stops the timer and the abort signals; after that only `answer` ends the wait. */
  detach(): void
  answer(result: Partial<WaitResult>): void
}

interface FreeWorker {
  waiter: Waiter
  worker: CandidateWorker
}

/** Offers that are reserved for rows about to be inserted. */
export interface Reservation {
  /** By execution id. */
  offers: ReadonlyMap<string, Offer>
  /** Ends the waits with the executions that were leased. Called once, even after a failure. */
  settle(leased: readonly Execution[]): void
}

/**
 * Dispatchers that wait for work in long polls at this replica, each until there is work for it or its
 * time limit (ADR 13). They save newly queued work the round trip over NATS. Correctness does not depend on
 * them: work without a waiter is announced to all dispatchers, and the execution writer decides every
 * lease.
 *
 * A dispatcher keeps more than one poll open, with offers of the same workers. An assignment through one
 * of them counts in the others, so that they do not offer the slot that it took.
 */
export class WaitingDispatchers {
  readonly #waiting = new Set<Waiter>()
  #isClosed = false

  /** Number of open long polls. */
  get size(): number {
    return this.#waiting.size
  }

  #pausedUntilMs = 0

  /** Resolves with work for these offers; with none when the time is up or a signal aborts. */
  wait(offers: readonly Offer[], ms: number, signals: readonly AbortSignal[]): Promise<WaitResult> {
    const nothing = { assignments: [], leased: [] }
    if (this.#isClosed || signals.some(({ aborted }) => aborted)) return Promise.resolve(nothing)
    return new Promise((resolve) => {
      const detach = () => {
        this.#waiting.delete(waiter)
        clearTimeout(timer)
        for (const signal of signals) signal.removeEventListener('abort', giveUp)
      }
      const answer = (result: Partial<WaitResult>) => {
        detach()
        resolve({ ...nothing, ...result })
      }
      const giveUp = () => answer({})
      const timer = setTimeout(giveUp, ms)
      for (const signal of signals) signal.addEventListener('abort', giveUp, { once: true })
      const byWorker = new Map(offers.map((offer) => [offer.worker_name, offer]))
      const waiter = { offers: byWorker, detach, answer }
      this.#waiting.add(waiter)
    })
  }

  /** Assigns rows that were just queued. Returns those that no dispatcher waits for here. */
  assignQueued(rows: readonly Execution[]): readonly Execution[] {
    const shares = this.#assign(rows)
    for (const [{ answer }, assignments] of shares) answer({ assignments })
    const assigned = new Set([...shares.values()].flat().map(({ execution_id }) => execution_id))
    return rows.filter(({ execution_id }) => !assigned.has(execution_id))
  }

  /** Assigns rows before they are inserted, so that one commit creates and leases them. */
  reserve(rows: readonly Execution[]): Reservation {
    const shares = this.#assign(performance.now() < this.#pausedUntilMs ? [] : rows)
    const offers = new Map(
      [...shares].flatMap(([waiter, assignments]) =>
        assignments.map(({ execution_id, worker_name }) => [
          execution_id,
          waiter.offers.get(worker_name) as Offer,
        ]),
      ),
    )
    const settle = (leased: readonly Execution[]) => {
      for (const [{ answer }, assignments] of shares) {
        const ids = new Set(assignments.map(({ execution_id }) => execution_id))
        answer({ leased: leased.filter(({ execution_id }) => ids.has(execution_id)) })
      }
    }
    return { offers, settle }
  }

  /** Stops reservations for a while: a hung process holds the lock of a worker. */
  pauseReservations(): void {
    this.#pausedUntilMs = performance.now() + RESERVATION_PAUSE_MS
  }

  close(): void {
    this.#isClosed = true
    for (const { answer } of [...this.#waiting]) answer({})
  }

  /** Assigns rows to waiters and detaches those that get any; the caller answers them. */
  #assign(rows: readonly Execution[]): Map<Waiter, Assignment[]> {
    const shares = new Map<Waiter, Assignment[]>()
    const assignable = this.#waiting.size > 0 ? rows.filter(hasNoPreference) : []
    if (assignable.length === 0) return shares
    const free = this.#findFree()
    const workers = [...free.values()].map(({ worker }) => worker)
    for (const assignment of assign(assignable, workers)) {
      const { waiter } = free.get(assignment.worker_name) as FreeWorker
      const share = shares.get(waiter)
      if (share) share.push(assignment)
      else shares.set(waiter, [assignment])
    }
    for (const { detach } of shares.keys()) detach()
    for (const { worker_name } of [...shares.values()].flat()) this.#countAssigned(worker_name)
    return shares
  }

  /** Each worker with a free slot, and the first waiter that offers one. */
  #findFree(): Map<string, FreeWorker> {
    const found = new Map<string, FreeWorker>()
    for (const waiter of this.#waiting)
      for (const [name, offer] of waiter.offers) {
        if (found.has(name)) continue
        const worker = toCandidateWorker(offer)
        if (worker.free > 0) found.set(name, { waiter, worker })
      }
    return found
  }

  #countAssigned(worker_name: string): void {
    for (const { offers } of this.#waiting) {
      const offer = offers.get(worker_name)
      if (offer) offers.set(worker_name, { ...offer, used: offer.used + 1 })
    }
  }
}

/**
 * True for work that any eligible worker may take; for other work, all workers of a dispatcher must be
 * ranked.
 */
const hasNoPreference = ({ preferred_worker, passed_over }: Execution): boolean =>
  !preferred_worker && !passed_over
