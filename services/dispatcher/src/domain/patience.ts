/** How long a dispatcher that was stalled holds back its evictions. Times are monotonic milliseconds. */
export interface Patience {
  /** When it last managed to look around. */
  looked_at_ms: number
  /** No worker is evicted before. */
  wait_until_ms: number
}

export interface Tolerance {
  /** Gaps between looks up to here are ordinary. */
  gap_ms: number
  /** The silence after which a worker is evicted; nothing is postponed by more. */
  silence_ms: number
}

/**
 * What a look at `now_ms` makes of it. While this process was stalled, or could not reach the
 * database, pongs may have gone unheard here or unwritten elsewhere: workers get that time back.
 */
export function looked(patience: Patience, now_ms: number, tolerance: Tolerance): Patience {
  const gap_ms = now_ms - patience.looked_at_ms
  const postponed_ms = gap_ms > tolerance.gap_ms ? Math.min(gap_ms, tolerance.silence_ms) : 0
  return {
    looked_at_ms: now_ms,
    wait_until_ms: Math.max(patience.wait_until_ms, now_ms + postponed_ms),
  }
}

export const mayEvict = ({ wait_until_ms }: Patience, now_ms: number): boolean =>
  now_ms >= wait_until_ms
