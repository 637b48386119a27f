import { Fault } from '@windlass/runtime/faults'
import { retry } from '@windlass/runtime/retry'

const RETRY = {
  budgetMs: 2_000,
  pauseMs: 50,
  isRetryable: (error: unknown) => error instanceof Fault && error.kind === 'unavailable',
}

/** Repeats a call that is safe to repeat, for up to two seconds while the service is unavailable. */
export const callUntilAvailable = <T>(call: () => Promise<T>): Promise<T> => retry(call, RETRY)
