import { compileCron } from './cron.ts'
import { type AnchoredRecurrence, listTicks } from './recurrence.ts'
import { listTransitions, type Transition, toClockText } from './zone.ts'

const MAX_TIMES = 20

/** A change of the clock that concerns times of a cron schedule. */
export interface ClockChange {
  at: Date
  /** `gap`: the times do not exist that day; `fold`: they come twice. */
  kind: 'gap' | 'fold'
  timezone: string
  /** The times on the clock that are concerned, without offset. */
  local_times: string[]
  /** When the schedule fires for them. */
  fires_at: Date[]
}

/**
 * Where the clocks are set between two moments, and a cron schedule names times that are left out
 * or come twice. Intervals and single moments do not go by the clock.
 */
export function listClockChanges(
  anchored: AnchoredRecurrence,
  from: Date,
  to: Date,
): ClockChange[] {
  const { recurrence } = anchored
  if (recurrence.kind !== 'cron' || recurrence.timezone === 'UTC') return []
  const { timezone, expression } = recurrence
  return listTransitions(timezone, from, to).flatMap((transition) => {
    const local_times = listAffectedTimes(expression, transition)
    if (local_times.length === 0) return []
    const kind = transition.afterMs > transition.beforeMs ? 'gap' : 'fold'
    return [
      {
        at: transition.at,
        kind,
        timezone,
        local_times,
        fires_at: listFiringTimes(anchored, transition),
      },
    ]
  })
}

/** The times that an expression names among those that are left out or come twice. */
function listAffectedTimes(expression: string, { at, beforeMs, afterMs }: Transition): string[] {
  const first = at.getTime() + Math.min(beforeMs, afterMs)
  const end = at.getTime() + Math.max(beforeMs, afterMs)
  const onItsFace = {
    kind: 'cron',
    cron: compileCron(expression, 'UTC'),
    expression,
    timezone: 'UTC',
  } as const
  const clock = { recurrence: onItsFace, anchor: new Date(first) }
  return listTicks(clock, new Date(first - 1), new Date(end - 1), MAX_TIMES).map(toClockText)
}

/** In a gap: at its end. In a fold: wherever it fires while the clock shows its times, once or twice. */
function listFiringTimes(
  anchored: AnchoredRecurrence,
  { at, beforeMs, afterMs }: Transition,
): Date[] {
  const length = beforeMs - afterMs
  const [first, last] = length < 0 ? [0, 0] : [-length, length - 1]
  const from = new Date(at.getTime() + first - 1)
  return listTicks(anchored, from, new Date(at.getTime() + last), 2 * MAX_TIMES)
}
