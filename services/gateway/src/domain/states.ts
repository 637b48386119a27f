/** In the order in which an execution can meet them; CREATED is only ever asked for. */
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

const FINAL = new Set<string>(['COMPLETED', 'FAILED', 'CANCELLED'])

export const isState = (text: string): boolean => (STATES as readonly string[]).includes(text)

export const isFinal = (state: string): boolean => FINAL.has(state)

/** Types that may stand in a log; progress is never stored. */
export const EVENT_TYPES: ReadonlySet<string> = new Set([
  ...['SCHEDULED', 'CLAIMED', 'RESUME_SCHEDULED', 'RESUME_CLAIMED', 'RESUMING', 'CANCELLING'].map(
    (end) => `WORKFLOW_${end}`,
  ),
  ...['STARTED', 'COMPLETED', 'FAILED', 'PAUSED', 'RESUMED', 'CANCELLED'].map(
    (end) => `WORKFLOW_${end}`,
  ),
  ...['STARTED', 'COMPLETED', 'FAILED', 'PAUSED', 'RESUMED'].map((end) => `TASK_${end}`),
  ...['AWAITING_APPROVAL', 'APPROVED', 'REJECTED'].map((end) => `TASK_${end}`),
  ...['RETRY', 'FALLBACK', 'ROLLBACK'].flatMap((kind) =>
    ['STARTED', 'COMPLETED', 'FAILED'].map((end) => `TASK_${kind}_${end}`),
  ),
])
