import { compileCron } from './cron.ts'
import { type AnchoredRecurrence, listTicks } from './recurrence.ts'
import { listTransitions, type Transition, toClockText } from './zone.ts'

const MAX_TIMES = 20

/** A clock change that affects times of a cron schedule. */
export interface ClockChange {
  at: Date
  /** `gap`: the local times do not exist on that day; `fold`: they occur twice. */
  kind: 'gap' | 'fold'
  timezone: string
  /** Affected local times, without offset. */
  local_times: string[]
  /** Times at which the schedule fires for them. */
  fires_at: Date[]
}

/**
 * Clock changes between two times that leave out or repeat local times of a cron schedule. Intervals
 * and single times are not affected by clock changes.
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

/** Local times in the gap or fold that match the expression. */
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

/** Ticks of a clock change. In a gap: at its end. In a fold: all ticks in the repeated period. */
function listFiringTimes(
  anchored: AnchoredRecurrence,
  { at, beforeMs, afterMs }: Transition,
): Date[] {
  const length = beforeMs - afterMs
  const [first, last] = length < 0 ? [0, 0] : [-length, length - 1]
  const from = new Date(at.getTime() + first - 1)
  return listTicks(anchored, from, new Date(at.getTime() + last), 2 * MAX_TIMES)
}
