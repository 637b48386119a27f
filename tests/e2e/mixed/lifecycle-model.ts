import type { LogEntry } from './history.ts'

/** States of `docs/lifecycle.md`; SCHEDULED is split into `queued` and `leased`. */
type ModelState =
  | 'queued'
  | 'leased'
  | 'CLAIMED'
  | 'RUNNING'
  | 'PAUSED'
  | 'RESUMING'
  | 'RESUME_SCHEDULED'
  | 'RESUME_CLAIMED'
  | 'CANCELLING'
  | 'cancelled directly'
  | 'COMPLETED'
  | 'FAILED'
  | 'CANCELLED'

const WORKING: ModelState[] = ['CLAIMED', 'RUNNING', 'RESUME_CLAIMED']
const HELD: ModelState[] = [...WORKING, 'CANCELLING']

/** Transitions by event. Written from docs/lifecycle.md, not from the code. */
const TRANSITIONS: Record<string, [from: ModelState[], to: ModelState][]> = {
  WORKFLOW_SCHEDULED: [[['queued'], 'leased']],
  WORKFLOW_RESUME_SCHEDULED: [[['RESUMING'], 'RESUME_SCHEDULED']],
  WORKFLOW_CLAIMED: [[['leased'], 'CLAIMED']],
  WORKFLOW_RESUME_CLAIMED: [[['RESUME_SCHEDULED'], 'RESUME_CLAIMED']],
  WORKFLOW_PAUSED: [
    [WORKING, 'PAUSED'],
    [['CANCELLING'], 'cancelled directly'],
  ],
  WORKFLOW_RESUMING: [[['PAUSED'], 'RESUMING']],
  WORKFLOW_CANCELLING: [
    [WORKING, 'CANCELLING'],
    [['queued', 'leased', 'PAUSED', 'RESUMING', 'RESUME_SCHEDULED'], 'cancelled directly'],
    // A lease that the first checkpoint may claim: its worker may already run the workflow.
    [['leased', 'RESUME_SCHEDULED'], 'CANCELLING'],
  ],
  WORKFLOW_CANCELLED: [[['CANCELLING', 'cancelled directly'], 'CANCELLED']],
  WORKFLOW_COMPLETED: [[HELD, 'COMPLETED']],
  WORKFLOW_FAILED: [[HELD, 'FAILED']],
}
const DECIDED = ['TASK_APPROVED', 'TASK_REJECTED']
const ENDED: ModelState[] = ['COMPLETED', 'FAILED', 'CANCELLED', 'cancelled directly']

/** Loss of the claim holder is not in the log: states reachable without an event. */
const LOSSES: Partial<Record<ModelState, ModelState[]>> = {
  leased: ['queued'],
  CLAIMED: ['queued', 'RESUMING'],
  RUNNING: ['queued', 'RESUMING'],
  RESUME_SCHEDULED: ['RESUMING'],
  RESUME_CLAIMED: ['RESUMING'],
}

const withLosses = (states: Iterable<ModelState>): Set<ModelState> =>
  new Set([...states].flatMap((state) => [state, ...(LOSSES[state] ?? [])]))

function after(states: ReadonlySet<ModelState>, type: string): Set<ModelState> {
  const transitions = TRANSITIONS[type]
  if (DECIDED.includes(type)) return new Set([...states].filter((state) => !ENDED.includes(state)))
  if (!transitions)
    return withLosses(
      [...states].flatMap((state): ModelState[] => {
        if (state === 'CANCELLING') return [state]
        return WORKING.includes(state) ? ['RUNNING'] : []
      }),
    )
  return withLosses(
    [...states].flatMap((state) =>
      transitions.flatMap(([from, to]) => (from.includes(state) ? [to] : [])),
    ),
  )
}

const stateAt = (state: ModelState): string =>
  state === 'queued' || state === 'leased' ? 'SCHEDULED' : state

/** Returns the possible states after each event; an empty set where no transition exists. */
export function statesAlong(events: readonly Pick<LogEntry, 'type'>[]): Set<string>[] {
  let states = withLosses(['queued'])
  const along = [statesOf(states)]
  for (const { type } of events) {
    states = after(states, type)
    along.push(statesOf(states))
  }
  return along
}

const statesOf = (states: ReadonlySet<ModelState>) => new Set([...states].map(stateAt))
