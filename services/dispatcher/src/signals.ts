import { WorkerSignal } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/bus'

type Body = NonNullable<WorkerSignal['body']>

/**
 * The subject of a worker's signals. Dots that would make an empty token are written `~`, which no
 * name contains; every other name stands as it is.
 */
export const subjectOf = (name: string): string =>
  `workers.${name.replace(/^\.|\.$|\.(?=\.)/g, '~')}`

/** Tells whoever holds the worker's stream. May be lost: each dispatcher also looks by itself. */
export const signal = (bus: Bus, name: string, body: Body): void =>
  bus.whisper(subjectOf(name), WorkerSignal.encode({ body }).finish())
