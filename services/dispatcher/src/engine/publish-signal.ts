import { WorkerSignal } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/nats/bus'
import { subjectOf } from '@windlass/runtime/nats/subjects'
import { waitAtMost } from '@windlass/runtime/timeout'

/** Maximum time to wait for NATS before the write that follows. */
const FLUSH_MS = 250

export type SignalBody = NonNullable<WorkerSignal['body']>

/**
 * Signals the dispatcher that holds the worker's stream. The signal may be lost: the tick finds every
 * change too.
 */
export const publishWorkerSignal = (bus: Bus, name: string, body: SignalBody): void =>
  bus.publishBestEffort(subjectOf('workers', name), WorkerSignal.encode({ body }).finish())

/**
 * Publishes a signal and waits until NATS has processed it, so that a subscriber receives it before
 * anything that is published afterwards. Gives up after FLUSH_MS if NATS does not answer.
 */
export async function publishAndFlush(bus: Bus, name: string, body: SignalBody): Promise<void> {
  publishWorkerSignal(bus, name, body)
  await waitAtMost(FLUSH_MS, bus.ping()).catch(() => {})
}
