import { isTerminal } from '@windlass/domain/states'
import type { Execution, Limits, Outcome, PendingEvent } from './execution.ts'
import { next } from './lifecycle.ts'
import { isDelivered, isUnclaimed, withoutHolder } from './ownership.ts'
import { workflowEvent } from './service-events.ts'

/** Workflow version that a resumed execution continues with. */
export interface ResumeTarget {
  workflow_id: string
  workflow_version: number
  requirement_id: string
  queue_timeout_ms: number | undefined
}

export interface Resume {
  body_json: string
  target?: ResumeTarget
  /** Id of the request: a repeated request has the same one. */
  request_id?: string | undefined
}

/**
 * Cancels an execution. An unclaimed one becomes CANCELLED at once, with a new fencing token, so that a
 * frame on its way cannot be claimed. A claimed one is CANCELLING until its worker confirms, for at most
 * `cancelMs`. One whose lease the first checkpoint may claim is CANCELLING until the claim deadline or,
 * if its worker sends a checkpoint, until `cancelMs` after that. A repeated cancel changes nothing.
 */
export function cancel(execution: Execution, limits: Limits, event_id?: string): Outcome {
  const mayHaveBegun = isUnclaimed(execution) && isDelivered(execution)
  const state = next(execution.state, mayHaveBegun ? 'cancel_delivered' : 'cancel')
  if (execution.state === 'CANCELLING') return { next: execution, events: [] }
  const events: PendingEvent[] = [{ ...workflowEvent(execution, 'WORKFLOW_CANCELLING'), event_id }]
  const deadlineMs = mayHaveBegun ? 'kept' : limits.cancelMs
  const delivered_generation = mayHaveBegun ? execution.delivered_generation : undefined
  if (!isTerminal(state))
    return { next: { ...execution, state, delivered_generation }, events, deadlineMs }
  events.push(workflowEvent(execution, 'WORKFLOW_CANCELLED'))
  return {
    next: {
      ...withoutHolder(execution),
      state,
      queued: false,
      parked: false,
      claim_generation: execution.claim_generation + 1,
    },
    events,
  }
}

/** Queues a paused execution with the body of the resume; prefers the worker that paused it. */
export function resume(execution: Execution, { body_json, target, request_id }: Resume): Outcome {
  const state = next(execution.state, 'resume')
  const { queue_timeout_ms } = target ?? execution
  return {
    next: {
      ...execution,
      ...target,
      state,
      queued: true,
      resume_due: true,
      preferred_worker: execution.worker_name,
      worker_name: undefined,
      pause_output_json: undefined,
    },
    events: [
      {
        ...workflowEvent(execution, 'WORKFLOW_RESUMING'),
        event_id: request_id,
        value_json: body_json,
      },
    ],
    deadlineMs: queue_timeout_ms,
  }
}
