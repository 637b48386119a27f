/** How long a dispatcher that was stalled holds back its evictions. Times are monotonic milliseconds. */
export interface EvictionGuard {
  /** When it last managed to look around. */
  polled_at_ms: number
  /** No worker is evicted before. */
  evict_from_ms: number
}

export interface StallLimits {
  /** Gaps between looks up to here are ordinary. */
  gap_ms: number
  /** The silence after which a worker is evicted; nothing is postponed by more. */
  eviction_after_ms: number
}

/**
 * What a look at `now_ms` makes of it. While this process was stalled, or could not reach the
 * database, pongs may have gone unheard here or unwritten elsewhere: workers get that time back.
 */
export function afterPoll(
  guard: EvictionGuard,
  now_ms: number,
  limits: StallLimits,
): EvictionGuard {
  const gap_ms = now_ms - guard.polled_at_ms
  const postponed_ms = gap_ms > limits.gap_ms ? Math.min(gap_ms, limits.eviction_after_ms) : 0
  return {
    polled_at_ms: now_ms,
    evict_from_ms: Math.max(guard.evict_from_ms, now_ms + postponed_ms),
  }
}

export const canEvict = ({ evict_from_ms }: EvictionGuard, now_ms: number): boolean =>
  now_ms >= evict_from_ms
