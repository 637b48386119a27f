/**
 * The twelve states of an execution, in the order in which an execution can pass through them. CREATED is
 * accepted in filters for older clients and is never stored.
 */
export const STATES = [
  'CREATED',
  'SCHEDULED',
  'CLAIMED',
  'RUNNING',
  'PAUSED',
  'RESUMING',
  'RESUME_SCHEDULED',
  'RESUME_CLAIMED',
  'CANCELLING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const
export type State = (typeof STATES)[number]

/** States that an execution never leaves. */
export const TERMINAL_STATES = ['COMPLETED', 'FAILED', 'CANCELLED'] as const

const TERMINAL: ReadonlySet<string> = new Set(TERMINAL_STATES)

export const isState = (text: string): text is State => (STATES as readonly string[]).includes(text)

export const isTerminal = (state: string): boolean => TERMINAL.has(state)

/** True for terminal states and PAUSED: nothing changes any more without a client's request. */
export const isSettled = (state: string): boolean => isTerminal(state) || state === 'PAUSED'

/** The event types with which a log can end: one for each terminal state. */
export const TERMINAL_EVENTS: ReadonlySet<string> = new Set(
  TERMINAL_STATES.map((state) => `WORKFLOW_${state}`),
)

const typesOf = (prefix: string, ...ends: readonly string[]) => ends.map((end) => prefix + end)

/** Event types that a log may hold; TASK_PROGRESS is delivered live and never stored. */
export const EVENT_TYPES: ReadonlySet<string> = new Set([
  ...TERMINAL_EVENTS,
  ...typesOf('WORKFLOW_', 'SCHEDULED', 'CLAIMED', 'STARTED', 'PAUSED', 'CANCELLING'),
  ...typesOf('WORKFLOW_', 'RESUMING', 'RESUME_SCHEDULED', 'RESUME_CLAIMED', 'RESUMED'),
  ...typesOf('TASK_', 'STARTED', 'COMPLETED', 'FAILED', 'PAUSED', 'RESUMED'),
  ...typesOf('TASK_', 'AWAITING_APPROVAL', 'APPROVED', 'REJECTED'),
  ...typesOf('TASK_RETRY_', 'STARTED', 'COMPLETED', 'FAILED'),
  ...typesOf('TASK_FALLBACK_', 'STARTED', 'COMPLETED', 'FAILED'),
  ...typesOf('TASK_ROLLBACK_', 'STARTED', 'COMPLETED', 'FAILED'),
])
