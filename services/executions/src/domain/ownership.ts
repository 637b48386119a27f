import { conflict } from '@windlass/runtime/faults'
import { type ClaimHolder, isHeldBy } from './claim-holder.ts'
import type { Execution, Limits, Outcome, PendingEvent } from './execution.ts'
import { next, type Trigger } from './lifecycle.ts'

export interface Offer {
  worker_name: string
  session_id: string
  connection_generation: number
}

/** An event of the server's own about a worker. */
const workerEvent = (type: string, worker_name: string): PendingEvent => ({
  type,
  source_id: worker_name,
  name: worker_name,
  value_json: 'null',
})

/** Gives queued work to a worker. Work that is not queued any more is left as it is: another was faster. */
export function lease(execution: Execution, offer: Offer, limits: Limits): Outcome {
  if (!execution.queued) return { next: execution, events: [] }
  const state = next(execution.state, 'lease')
  const type = state === 'SCHEDULED' ? 'WORKFLOW_SCHEDULED' : 'WORKFLOW_RESUME_SCHEDULED'
  return {
    next: {
      ...execution,
      state,
      held_by: offer.worker_name,
      held_session: offer.session_id,
      held_connection: offer.connection_generation,
      worker_name: offer.worker_name,
      claim_generation: execution.claim_generation + 1,
      queued: false,
      passed_over: undefined,
    },
    events: [workerEvent(type, offer.worker_name)],
    deadlineMs: limits.claimMs,
  }
}

const CLAIMED_STATES = ['CLAIMED', 'RUNNING', 'RESUME_CLAIMED', 'CANCELLING']

/** Confirms a lease. The holder may repeat it: its first answer may have been lost. */
export function claim(execution: Execution, holder: ClaimHolder): Outcome {
  if (!isHeldBy(execution, holder, execution.held_by)) throw refused(execution)
  if (CLAIMED_STATES.includes(execution.state)) return { next: execution, events: [] }
  const state = next(execution.state, 'claim')
  const type = state === 'CLAIMED' ? 'WORKFLOW_CLAIMED' : 'WORKFLOW_RESUME_CLAIMED'
  return {
    next: { ...execution, state, attempts: execution.attempts + 1 },
    events: [workerEvent(type, holder.worker_name)],
  }
}

const refused = ({ execution_id, state }: Execution) =>
  conflict(`Cannot claim execution ${execution_id}: current state is ${state}`)

/** The same execution in nobody's hands. */
export const withoutHolder = (execution: Execution): Execution => ({
  ...execution,
  held_by: undefined,
  held_session: undefined,
  held_connection: undefined,
})

/** How an execution leaves its worker: handed back, the worker died, or a deadline passed. */
export type Loss = 'released' | 'died' | 'expired'

/**
 * Takes work from its holder, under a new generation, so that nothing the holder still sends
 * counts. It goes back to the queue; what someone asked to cancel ends; what has killed
 * `maxAttempts` workers at the same point is given up.
 */
export function lose(execution: Execution, loss: Loss, limits: Limits): Outcome {
  if (!execution.held_by) return { next: execution, events: [] }
  const { state, held_by } = execution
  const unclaimed = state === 'SCHEDULED' || state === 'RESUME_SCHEDULED'
  const free = { ...withoutHolder(execution), claim_generation: execution.claim_generation + 1 }
  if (state === 'CANCELLING')
    return {
      next: { ...free, state: next(state, 'lose') },
      events: [workflowEvent(execution, 'WORKFLOW_CANCELLED')],
    }
  if (!unclaimed && loss === 'died' && execution.attempts >= limits.maxAttempts)
    return giveUp(execution, free)
  const trigger: Trigger = execution.resume_due && !unclaimed ? 'lose_resume' : 'lose'
  const given = loss === 'released' && !unclaimed ? 1 : 0
  return {
    next: {
      ...free,
      state: next(state, trigger),
      queued: true,
      worker_name: undefined,
      attempts: Math.max(0, execution.attempts - given),
      passed_over: loss === 'expired' ? held_by : undefined,
    },
    events: [],
    deadlineMs: execution.queue_timeout_ms,
  }
}

/** Gives up work that has waited longer than its workflow wants. What is not queued any more is left as it is. */
export function timeOut(execution: Execution): Outcome {
  const { state, queued, queue_timeout_ms = 0 } = execution
  if (!queued) return { next: execution, events: [] }
  const message = `no worker took it within its queue_timeout of ${queue_timeout_ms / 1_000} s`
  return withFailure(
    { ...execution, state: next(state, 'time_out'), queued: false },
    'QueueTimeout',
    message,
  )
}

function giveUp(execution: Execution, free: Execution): Outcome {
  const message =
    `given up after ${execution.attempts} workers died at the same point, ` +
    `with ${execution.completions} tasks completed`
  return withFailure({ ...free, state: next(execution.state, 'give_up') }, 'WorkerLost', message)
}

/** An end that no worker reports: its output says why. */
function withFailure(ended: Execution, type: string, message: string): Outcome {
  const value_json = JSON.stringify({ type, message })
  return {
    next: { ...ended, output_json: value_json },
    events: [{ ...workflowEvent(ended, 'WORKFLOW_FAILED'), value_json }],
  }
}

/** An event of the server's own about the execution as a whole. */
export const workflowEvent = (execution: Execution, type: string): PendingEvent => ({
  type,
  source_id: execution.worker_name ?? '',
  name: execution.workflow_name,
  value_json: 'null',
})
