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

export const isState = (text: string): text is State => STATES.includes(text as State)
