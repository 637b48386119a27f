import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { Outcome } from '../store/ticks.ts'

type TickKey = Outcome['firing']

const NOTHING = { workflow_id: undefined, state: undefined, started_at: undefined }

/** Its execution is there. */
export const startedOutcome = (firing: TickKey, execution: Execution): Outcome => ({
  firing,
  status: 'started',
  workflow_id: execution.workflow_id,
  state: execution.state,
  started_at: execution.created_at ?? firing.nominal_at,
  error: undefined,
})

/** It cannot be started, for a reason that stands. */
export const failedOutcome = (firing: TickKey, error: string): Outcome => ({
  firing,
  status: 'failed',
  error,
  ...NOTHING,
})

/** It is not to be started. */
export const skippedOutcome = (firing: TickKey, error: string): Outcome => ({
  firing,
  status: 'skipped',
  error,
  ...NOTHING,
})

/** It waits until the earlier ones of its schedule are over. */
export const queuedOutcome = (firing: TickKey): Outcome => ({
  firing,
  status: 'queued',
  error: undefined,
  ...NOTHING,
})
