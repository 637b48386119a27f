import { WorkerSignal } from '@windlass/proto/windlass/signals/v1/signals'
import type { BusSubscription } from '@windlass/runtime/nats/best-effort'
import type { Bus } from '@windlass/runtime/nats/bus'
import { subjectOf } from '@windlass/runtime/nats/subjects'
import type { CancelDelivery } from './cancel-delivery.ts'
import type { ConnectedWorkers } from './connected-workers.ts'
import type { SignalBody } from './publish-signal.ts'
import type { ReadyQueueView } from './ready-queue-view.ts'
import type { WorkerRegistrySync } from './registry-sync.ts'

export interface SignalDeps {
  bus: Bus
  workers: ConnectedWorkers
  queue: ReadyQueueView
  registry: WorkerRegistrySync
  cancelDelivery: CancelDelivery
  /** Starts a lease attempt: a worker may be able to take queued work. */
  wake(): void
  /** Runs after work was queued that was not assigned through the long poll. */
  onQueued(): void
}

const READY_PREFIX = 'ready.'

/** Subscribes to the wake-ups of the ready queue. */
export const subscribeReady = ({ bus, queue, onQueued }: SignalDeps): BusSubscription =>
  bus.subscribeBestEffort(`${READY_PREFIX}*`, (_, subject) => {
    queue.markReady(subject.slice(READY_PREFIX.length))
    onQueued()
  })

/** Subscribes to the signals of one worker; the caller ends it with the stream. */
export const subscribeWorker = (deps: SignalDeps, name: string): BusSubscription =>
  deps.bus.subscribeBestEffort(subjectOf('workers', name), (bytes) => {
    const { body } = WorkerSignal.decode(bytes)
    if (body) onWorkerSignal(deps, name, body)
  })

function onWorkerSignal(deps: SignalDeps, name: string, body: SignalBody): void {
  const { workers, registry, cancelDelivery, wake } = deps
  switch (body.$case) {
    case 'superseded':
    case 'evicted':
      workers.closeOlder(name, body.value.connection_generation, body.$case)
      break
    case 'cancel_due':
      cancelDelivery.enqueue(name, body.value)
      break
    case 'revised':
      registry.refresh(name)
      break
    case 'unwell':
      workers.get(name)?.suspectUnhealthy(body.value.session_id, performance.now())
      workers.bumpFleetVersion()
      break
    case 'slot_freed':
      workers.get(name)?.load.slotsFreed(body.value.slots)
      wake()
  }
}
