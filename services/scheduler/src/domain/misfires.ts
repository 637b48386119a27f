import { type AnchoredRecurrence, latestTick, nextTick } from './recurrence.ts'

/** Consecutive ticks that did not fire. */
export interface TickRange {
  first: Date
  last: Date
}

export interface MisfirePlan {
  /** Nominal time of the tick that fires now. */
  fire: Date | undefined
  skipped: TickRange | undefined
  next: Date | undefined
}

/**
 * Plans a schedule whose tick `due` is due: the newest due tick fires if it is not older than the catch-up
 * window, and those before it are skipped. Takes constant time, for one misfired tick and for 10^6.
 */
export function planMisfires(
  anchored: AnchoredRecurrence,
  due: Date,
  now: Date,
  windowMs: number,
): MisfirePlan {
  const following = nextTick(anchored, due)
  const isOnlyTick = following === undefined || following > now
  const newest = isOnlyTick ? due : (latestTick(anchored, now) ?? following)
  const next = isOnlyTick ? following : nextTick(anchored, now)
  if (now.getTime() - newest.getTime() > windowMs)
    return { fire: undefined, skipped: { first: due, last: newest }, next }
  return { fire: newest, skipped: ticksBefore(anchored, due, newest), next }
}

/**
 * Ticks from `due` to before `end`, which a pause or a change keeps from firing; undefined if there are
 * none.
 */
export function ticksBefore(
  anchored: AnchoredRecurrence,
  due: Date,
  end: Date,
): TickRange | undefined {
  if (due >= end) return undefined
  const last = latestTick(anchored, new Date(end.getTime() - 1))
  return { first: due, last: last && last > due ? last : due }
}
