const FIRST_MS = 1_000
const LONGEST_MS = 30_000
/**
 * Time from the end of the catch-up window until a firing is given up: no call of an attempt is in flight
 * after it.
 */
const QUIET_MS = 60_000

export const retryDelayMs = (attempts: number): number =>
  Math.min(FIRST_MS * 2 ** Math.min(attempts, 10), LONGEST_MS)

/** Decides if a firing of this age is retried, given up, or waits until it can be given up safely. */
export function decideRetry(
  ageMs: number,
  catchupMs: number,
): 'retry' | 'give_up' | { waitMs: number } {
  if (ageMs <= catchupMs) return 'retry'
  const waitMs = catchupMs + QUIET_MS - ageMs
  return waitMs > 0 ? { waitMs } : 'give_up'
}
