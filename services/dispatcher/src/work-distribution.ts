import { type AwaitWorkDeps, createAwaitWorkLoop } from './loops/await-work.ts'
import { createLeaseLoop, type LeaseDeps } from './loops/lease.ts'
import type { SignalDeps } from './worker-signals.ts'

type DistributionDeps = Omit<LeaseDeps, 'onPolled'> & AwaitWorkDeps

export interface WorkDistribution extends Pick<SignalDeps, 'wake' | 'onQueued'> {
  onFleetChange(): void
  stop(): Promise<void>
}

/** Both ways in which work comes to the workers here: what is queued is leased, what will be is waited for. */
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
