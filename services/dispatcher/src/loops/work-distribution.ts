import type { SignalDeps } from '../engine/worker-signals.ts'
import { type AwaitWorkDeps, createAwaitWorkLoop } from './await-work.ts'
import { createLeaseLoop, type LeaseDeps } from './lease.ts'

type DistributionDeps = Omit<LeaseDeps, 'onPolled'> & AwaitWorkDeps

export interface WorkDistribution extends Pick<SignalDeps, 'wake' | 'onQueued'> {
  /** Renews the offers of the long poll: a worker connected, left or changed. */
  onFleetChange(): void
  stop(): Promise<void>
}

/**
 * Starts the two loops that bring work to the workers connected here: the lease loop leases queued work
 * (loops/lease.ts), and the long poll waits for work that is about to be created (loops/await-work.ts).
 */
export function startWorkDistribution(deps: DistributionDeps): WorkDistribution {
  const waiting = createAwaitWorkLoop(deps)
  const leasing = createLeaseLoop({ ...deps, onPolled: () => waiting.wake() })
  return {
    wake() {
      leasing.wake()
      waiting.wake()
    },
    onFleetChange: () => waiting.restart(),
    onQueued() {
      leasing.wake()
      waiting.restart()
    },
    stop: async () => void (await Promise.all([leasing.stop(), waiting.stop()])),
  }
}
