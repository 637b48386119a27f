import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { Outcome } from '../store/ticks.ts'

type TickKey = Outcome['firing']

const NOTHING = { workflow_id: undefined, state: undefined, started_at: undefined }

/** The execution exists. */
export const startedOutcome = (firing: TickKey, execution: Execution): Outcome => ({
  firing,
  status: 'started',
  workflow_id: execution.workflow_id,
  state: execution.state,
  started_at: execution.created_at ?? firing.nominal_at,
  error: undefined,
})

/** The execution cannot be started, and a retry would not help. */
export const failedOutcome = (firing: TickKey, error: string): Outcome => ({
  firing,
  status: 'failed',
  error,
  ...NOTHING,
})

/** The execution must not be started. */
export const skippedOutcome = (firing: TickKey, error: string): Outcome => ({
  firing,
  status: 'skipped',
  error,
  ...NOTHING,
})

/** The tick waits until earlier executions of its schedule have ended. */
export const queuedOutcome = (firing: TickKey): Outcome => ({
  firing,
  status: 'queued',
  error: undefined,
  ...NOTHING,
})
