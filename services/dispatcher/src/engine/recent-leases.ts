import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { ConnectedWorker } from './connected-workers.ts'

/** Longer than it takes to notice that a gateway hangs (gateway-watch.ts). */
const RECENT_MS = 3_000
const MAX_RECENT = 8_192

/** Identity of a lease. */
export type LeaseId = Pick<
  Execution,
  'execution_id' | 'worker_name' | 'worker_session' | 'claim_generation'
>

interface SentLease {
  worker: ConnectedWorker
  lease: LeaseId
  sentMs: number
}

/** Leases whose frames were sent a moment ago, the oldest first; without their payloads. */
export class RecentLeases {
  #sent: SentLease[] = []

  add(worker: ConnectedWorker, executions: readonly Execution[]): void {
    const sentMs = performance.now()
    this.#forgetOlder(sentMs - RECENT_MS)
    for (const { execution_id, worker_name, worker_session, claim_generation } of executions) {
      const lease = { execution_id, worker_name, worker_session, claim_generation }
      this.#sent.push({ worker, lease, sentMs })
    }
    if (this.#sent.length > MAX_RECENT) this.#sent = this.#sent.slice(-MAX_RECENT)
  }

  /** Removes and returns the leases of workers that match. */
  take(matches: (worker: ConnectedWorker) => boolean): LeaseId[] {
    this.#forgetOlder(performance.now() - RECENT_MS)
    const taken = this.#sent.filter(({ worker }) => matches(worker))
    this.#sent = this.#sent.filter(({ worker }) => !matches(worker))
    return taken.map(({ lease }) => lease)
  }

  #forgetOlder(ms: number): void {
    const first = this.#sent.findIndex(({ sentMs }) => sentMs >= ms)
    if (first !== 0) this.#sent.splice(0, first < 0 ? this.#sent.length : first)
  }
}
