import { Fault } from '@windlass/runtime/faults'

/** True for the refusal of a caller that is not, or no longer, authorized. */
export const isRefusal = (error: unknown): error is Fault =>
  error instanceof Fault && REFUSALS.has(error.kind)

const REFUSALS: ReadonlySet<string> = new Set(['unauthenticated', 'forbidden'])
