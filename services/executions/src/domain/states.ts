/** The twelve states of an execution. CREATED is kept for filters of older clients and never stored. */
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

const FINAL: readonly State[] = ['COMPLETED', 'FAILED', 'CANCELLED']

export const isFinal = (state: State): boolean => FINAL.includes(state)

/** Nothing goes on before somebody asks for it. */
export const isSettled = (state: State): boolean => isFinal(state) || state === 'PAUSED'

/** The events with which a log ends. */
export const ENDINGS: ReadonlySet<string> = new Set([
  'WORKFLOW_COMPLETED',
  'WORKFLOW_FAILED',
  'WORKFLOW_CANCELLED',
])

export const isState = (text: string): text is State => STATES.includes(text as State)
