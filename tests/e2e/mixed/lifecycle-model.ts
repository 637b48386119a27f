import type { LogEntry } from './history.ts'

/** Where an execution can be, as `docs/lifecycle.md` has it: a lease is a place of its own here. */
type Place =
  | 'queued'
  | 'leased'
  | 'CLAIMED'
  | 'RUNNING'
  | 'PAUSED'
  | 'RESUMING'
  | 'RESUME_SCHEDULED'
  | 'RESUME_CLAIMED'
  | 'CANCELLING'
  | 'cancelled at once'
  | 'COMPLETED'
  | 'FAILED'
  | 'CANCELLED'

const WORKING: Place[] = ['CLAIMED', 'RUNNING', 'RESUME_CLAIMED']
const HELD: Place[] = [...WORKING, 'CANCELLING']

/** Which event leads from where to where. Written from the page, not from the code. */
const MOVES: Record<string, [from: Place[], to: Place][]> = {
  WORKFLOW_SCHEDULED: [[['queued'], 'leased']],
  WORKFLOW_RESUME_SCHEDULED: [[['RESUMING'], 'RESUME_SCHEDULED']],
  WORKFLOW_CLAIMED: [[['leased'], 'CLAIMED']],
  WORKFLOW_RESUME_CLAIMED: [[['RESUME_SCHEDULED'], 'RESUME_CLAIMED']],
  WORKFLOW_PAUSED: [
    [WORKING, 'PAUSED'],
    [['CANCELLING'], 'cancelled at once'],
  ],
  WORKFLOW_RESUMING: [[['PAUSED'], 'RESUMING']],
  WORKFLOW_CANCELLING: [
    [WORKING, 'CANCELLING'],
    [['queued', 'leased', 'PAUSED', 'RESUMING', 'RESUME_SCHEDULED'], 'cancelled at once'],
  ],
  WORKFLOW_CANCELLED: [[['CANCELLING', 'cancelled at once'], 'CANCELLED']],
  WORKFLOW_COMPLETED: [[HELD, 'COMPLETED']],
  WORKFLOW_FAILED: [[HELD, 'FAILED']],
}
const DECIDED = ['TASK_APPROVED', 'TASK_REJECTED']
const OVER: Place[] = ['COMPLETED', 'FAILED', 'CANCELLED', 'cancelled at once']

/** Loss of the holder leaves no event: where an execution may be without one. */
const LOSSES: Partial<Record<Place, Place[]>> = {
  leased: ['queued'],
  CLAIMED: ['queued', 'RESUMING'],
  RUNNING: ['queued', 'RESUMING'],
  RESUME_SCHEDULED: ['RESUMING'],
  RESUME_CLAIMED: ['RESUMING'],
}

const closed = (places: Iterable<Place>): Set<Place> =>
  new Set([...places].flatMap((place) => [place, ...(LOSSES[place] ?? [])]))

function after(places: ReadonlySet<Place>, type: string): Set<Place> {
  const moves = MOVES[type]
  if (DECIDED.includes(type)) return new Set([...places].filter((place) => !OVER.includes(place)))
  if (!moves)
    return closed(
      [...places].flatMap((place): Place[] => {
        if (place === 'CANCELLING') return [place]
        return WORKING.includes(place) ? ['RUNNING'] : []
      }),
    )
  return closed(
    [...places].flatMap((place) =>
      moves.flatMap(([from, to]) => (from.includes(place) ? [to] : [])),
    ),
  )
}

const stateAt = (place: Place): string =>
  place === 'queued' || place === 'leased' ? 'SCHEDULED' : place

/** The states that an execution may be in after each of its events; none where the table has no such way. */
export function statesAlong(events: readonly Pick<LogEntry, 'type'>[]): Set<string>[] {
  let places = closed(['queued'])
  const along = [statesOf(places)]
  for (const { type } of events) {
    places = after(places, type)
    along.push(statesOf(places))
  }
  return along
}

const statesOf = (places: ReadonlySet<Place>) => new Set([...places].map(stateAt))
