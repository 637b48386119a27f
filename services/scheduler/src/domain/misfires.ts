import { type AnchoredRecurrence, latestTick, nextTick } from './recurrence.ts'

/** Ticks that did not fire, from the first to the last. */
export interface TickRange {
  first: Date
  last: Date
}

export interface MisfirePlan {
  /** The nominal time of the one tick to fire now. */
  fire: Date | undefined
  skipped: TickRange | undefined
  next: Date | undefined
}

/**
 * What to do with a schedule whose tick `due` has come: the newest tick that is due fires if it is
 * younger than the catch-up window, those before it are skipped. Takes the same time for one missed
 * tick as for a million.
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

/** The ticks from `due` to before `end`, if there are any: what a pause or a change keeps from firing. */
export function ticksBefore(
  anchored: AnchoredRecurrence,
  due: Date,
  end: Date,
): TickRange | undefined {
  if (due >= end) return undefined
  const last = latestTick(anchored, new Date(end.getTime() - 1))
  return { first: due, last: last && last > due ? last : due }
}
