import { WorkerSignal } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/bus'
import { subjectOf } from '@windlass/runtime/subjects'

type Body = NonNullable<WorkerSignal['body']>

/** Tells whoever holds the worker's stream. May be lost: each dispatcher also looks by itself. */
export const signal = (bus: Bus, name: string, body: Body): void =>
  bus.whisper(subjectOf('workers', name), WorkerSignal.encode({ body }).finish())
