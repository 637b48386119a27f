/** The states of an execution as the console shows them: a word, a shape and a tone for each. */

export type Tone = 'wait' | 'run' | 'pause' | 'good' | 'bad' | 'off'

interface StateView {
  word: string
  tone: Tone
  /** The meaning of the state, for a tooltip. */
  meaning: string
}

const VIEWS: Record<string, StateView> = {
  CREATED: { word: 'Created', tone: 'wait', meaning: 'stored' },
  SCHEDULED: { word: 'Queued', tone: 'wait', meaning: 'waits for a worker' },
  CLAIMED: { word: 'Claimed', tone: 'wait', meaning: 'a worker has it and is about to start' },
  RUNNING: { word: 'Running', tone: 'run', meaning: 'runs on a worker' },
  PAUSED: { word: 'Paused', tone: 'pause', meaning: 'waits for an approval or a resume' },
  RESUMING: { word: 'Resuming', tone: 'wait', meaning: 'was resumed and waits for a worker' },
  RESUME_SCHEDULED: { word: 'Resume queued', tone: 'wait', meaning: 'waits for a worker' },
  RESUME_CLAIMED: { word: 'Resume claimed', tone: 'wait', meaning: 'a worker has it' },
  CANCELLING: { word: 'Cancelling', tone: 'off', meaning: 'its worker was asked to stop' },
  COMPLETED: { word: 'Completed', tone: 'good', meaning: 'ended with an output' },
  FAILED: { word: 'Failed', tone: 'bad', meaning: 'ended with an error' },
  CANCELLED: { word: 'Cancelled', tone: 'off', meaning: 'ended by a cancel' },
}

/** A state that this console does not know is shown by its own name. */
export const viewOf = (state: string): StateView =>
  VIEWS[state] ?? { word: state, tone: 'wait', meaning: 'a state of a later release' }

/** States to filter by, in the order in which an execution passes through them. */
export const FILTER_STATES = [
  'SCHEDULED',
  'CLAIMED',
  'RUNNING',
  'PAUSED',
  'CANCELLING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
]

const ENDED = new Set(['COMPLETED', 'FAILED', 'CANCELLED'])
export const hasEnded = (state: string): boolean => ENDED.has(state)
