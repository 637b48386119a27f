import type { Cron } from 'croner'

/**
 * Times of a schedule, created by `parseConfig`. Intervals count from the anchor unless they have a
 * start.
 */
export type Recurrence =
  | { kind: 'cron'; cron: Cron; expression: string; timezone: string }
  | { kind: 'interval'; every_ms: number; start: Date | undefined; end: Date | undefined }
  | { kind: 'once'; at: Date }

/** A recurrence with the time that its intervals count from. */
export interface AnchoredRecurrence {
  recurrence: Recurrence
  anchor: Date
}

/** First tick after `after`, or undefined. */
export function nextTick(
  { recurrence, anchor }: AnchoredRecurrence,
  after: Date,
): Date | undefined {
  switch (recurrence.kind) {
    case 'cron':
      return recurrence.cron.nextRun(after) ?? undefined
    case 'once':
      return recurrence.at > after ? recurrence.at : undefined
    case 'interval': {
      const { every_ms, start, end } = recurrence
      const origin = (start ?? anchor).getTime()
      const first = start ? 0 : 1
      const step = Math.max(Math.floor((after.getTime() - origin) / every_ms) + 1, first)
      const tick = new Date(origin + step * every_ms)
      return end && tick > end ? undefined : tick
    }
  }
}

/** Last tick up to and including `until`, or undefined. */
export function latestTick(
  { recurrence, anchor }: AnchoredRecurrence,
  until: Date,
): Date | undefined {
  switch (recurrence.kind) {
    case 'cron':
      return recurrence.cron.previousRuns(1, new Date(until.getTime() + 1))[0]
    case 'once':
      return recurrence.at <= until ? recurrence.at : undefined
    case 'interval': {
      const { every_ms, start, end } = recurrence
      const origin = (start ?? anchor).getTime()
      const bound = Math.min(until.getTime(), end?.getTime() ?? Number.POSITIVE_INFINITY)
      const step = Math.floor((bound - origin) / every_ms)
      return step < (start ? 0 : 1) ? undefined : new Date(origin + step * every_ms)
    }
  }
}

/** Ticks after `after` and up to `until`, at most `max`. */
export function listTicks(
  anchored: AnchoredRecurrence,
  after: Date,
  until: Date,
  max: number,
): Date[] {
  const ticks: Date[] = []
  let tick = nextTick(anchored, after)
  while (tick && tick <= until && ticks.length < max) {
    ticks.push(tick)
    tick = nextTick(anchored, tick)
  }
  return ticks
}
