const FIRST_MS = 1_000
const MAX_MS = 30_000

interface Failure {
  /** Failures since the last success, this one included. */
  failures: number
  /** Wait that the server asked for. */
  retryAfterMs?: number | undefined
}

/**
 * Milliseconds until the next attempt: twice as long after each failure, up to 30 s, and a random half of
 * it, so that browsers that lost the same gateway do not return at the same moment. Never sooner than the
 * server asked for.
 */
export function backoffMs(
  { failures, retryAfterMs = 0 }: Failure,
  random: () => number = Math.random,
): number {
  const whole = Math.min(MAX_MS, FIRST_MS * 2 ** Math.max(0, failures - 1))
  return retryAfterMs + whole / 2 + (random() * whole) / 2
}
