import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { ConnectedWorker } from './connected-workers.ts'

/** Longer than it takes to notice that a gateway hangs (gateway-watch.ts). */
const RECENT_MS = 3_000
const MAX_RECENT = 8_192

/** Identity of a lease. */
export type LeaseId = Pick<
  Execution,
  'execution_id' | 'state' | 'worker_name' | 'worker_session' | 'claim_generation'
>

interface SentLease {
  worker: ConnectedWorker
  lease: LeaseId
  /** Value of `pushedBytes` of the stream after its frame. */
  end: number
  sentMs: number
}

/** Leases whose frames were sent a moment ago, oldest first, without their payloads. */
export class RecentLeases {
  #sent: SentLease[] = []

  /** Adds leases whose frames have just been pushed. */
  add(worker: ConnectedWorker, executions: readonly Execution[]): void {
    const sentMs = performance.now()
    const end = worker.stream.pushedBytes
    this.#forgetOlder(sentMs - RECENT_MS)
    for (const {
      execution_id,
      state,
      worker_name,
      worker_session,
      claim_generation,
    } of executions) {
      const lease = { execution_id, state, worker_name, worker_session, claim_generation }
      this.#sent.push({ worker, lease, end, sentMs })
    }
    if (this.#sent.length > MAX_RECENT) this.#sent = this.#sent.slice(-MAX_RECENT)
  }

  /** Removes and returns the leases of workers that match, except those whose frames have arrived. */
  takeUndelivered(matches: (worker: ConnectedWorker) => boolean): LeaseId[] {
    this.#forgetOlder(performance.now() - RECENT_MS)
    const isTaken = ({ worker, end }: SentLease) =>
      matches(worker) && (worker.stream.deliveredBytes ?? 0) < end
    const taken = this.#sent.filter(isTaken)
    this.#sent = this.#sent.filter((sent) => !isTaken(sent))
    return taken.map(({ lease }) => lease)
  }

  #forgetOlder(ms: number): void {
    const first = this.#sent.findIndex(({ sentMs }) => sentMs >= ms)
    if (first !== 0) this.#sent.splice(0, first < 0 ? this.#sent.length : first)
  }
}
