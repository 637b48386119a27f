import { WorkerSignal } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/nats/bus'
import { subjectOf } from '@windlass/runtime/nats/subjects'
import { waitAtMost } from '@windlass/runtime/timeout'

/** How long whoever tells waits for NATS. */
const FLUSH_MS = 250

type Body = NonNullable<WorkerSignal['body']>

/** Tells whoever holds the worker's stream. May be lost: each dispatcher also looks by itself. */
export const publishWorkerSignal = (bus: Bus, name: string, body: Body): void =>
  bus.publishBestEffort(subjectOf('workers', name), WorkerSignal.encode({ body }).finish())

/**
 * Tells it, and resolves when NATS has passed it on: whoever hears both hears it before all that is
 * whispered afterwards. Without NATS it does not wait for long.
 */
export async function publishAndFlush(bus: Bus, name: string, body: Body): Promise<void> {
  publishWorkerSignal(bus, name, body)
  await waitAtMost(FLUSH_MS, bus.ping()).catch(() => {})
}
