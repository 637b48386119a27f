const FIRST_MS = 1_000
const LONGEST_MS = 30_000
/** How long after the last attempt a firing is given up: by then no call of an attempt can still be under way. */
const QUIET_MS = 60_000

export const retryDelayMs = (attempts: number): number =>
  Math.min(FIRST_MS * 2 ** Math.min(attempts, 10), LONGEST_MS)

/** Whether a firing of this age is tried again, looked up for the last time, or waits until it may be: then how long. */
export function decideRetry(
  ageMs: number,
  catchupMs: number,
): 'retry' | 'give_up' | { waitMs: number } {
  if (ageMs <= catchupMs) return 'retry'
  const waitMs = catchupMs + QUIET_MS - ageMs
  return waitMs > 0 ? { waitMs } : 'give_up'
}
