import { countEligible } from './domain/offers.ts'
import type { ConnectedWorker, ConnectedWorkers } from './engine/connected-workers.ts'
import type { ReadyQueueView } from './engine/ready-queue-view.ts'
import type { WorkDelivery } from './engine/work-delivery.ts'
import { eligibleWorkers, undelivered, workerSlots, workersByState } from './metrics.ts'

/**
 * Maximum number of requirements with a series of their own: matching all of them against a fleet is
 * expensive.
 */
const MAX_REQUIREMENTS = 50

interface Fleet {
  workers: ConnectedWorkers
  queue: Pick<ReadyQueueView, 'readyRequirements'>
  delivery: Pick<WorkDelivery, 'undelivered'>
}

/** Observes the connected workers while metrics are collected; answers `stop`. */
export function observeFleet({ workers, queue, delivery }: Fleet): () => void {
  const stops = [
    workersByState.observe((report) => {
      const counts = { free: 0, full: 0, unhealthy: 0, blocked: 0 }
      for (const worker of workers) counts[stateOf(worker)]++
      for (const [state, count] of Object.entries(counts)) report(count, { state })
    }),
    workerSlots.observe((report) => {
      const slots = { used: 0, free: 0 }
      for (const { used, capacity } of workers) {
        slots.used += used
        slots.free += Math.max(0, capacity - used)
      }
      for (const [state, count] of Object.entries(slots)) report(count, { state })
    }),
    undelivered.observe((report) => report(delivery.undelivered)),
    eligibleWorkers.observe((report) => {
      for (const entry of queue.readyRequirements.slice(0, MAX_REQUIREMENTS))
        report(countEligible(entry, workers), { requirement: entry.requirement_id })
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function stateOf({ isHealthy, isWritable, capacity, used }: ConnectedWorker) {
  if (!isHealthy) return 'unhealthy'
  if (!isWritable) return 'blocked'
  return capacity > 0 && used >= capacity ? 'full' : 'free'
}
