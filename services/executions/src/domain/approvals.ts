import { isTerminal } from '@windlass/domain/states'
import { Fault } from '@windlass/runtime/faults'
import { membersOf, stringOf } from '@windlass/runtime/json/json'
import type { Execution, Outcome, PendingEvent } from './execution.ts'
import { next } from './lifecycle.ts'
import { workflowEvent } from './service-events.ts'

export interface Approval {
  approval_id: string
  execution_id: string
  task_call_id: string
  task_name: string
  status: 'pending' | 'approved' | 'rejected' | 'cancelled'
  scope: 'call' | 'execution'
  approver_subject: string
  approver_provider: string
  reason?: string
  decided_at?: Date
}

export interface Decision {
  /** Call to decide; empty: the only pending approval of the task. */
  task_call_id: string
  task_name: string
  approved: boolean
  /** True: later calls of the task in this execution are approved too. */
  always: boolean
  reason?: string
  approver_subject: string
  approver_provider: string
}

/** A worker's request for an approval of a call, with the id of the new approval. */
export interface ApprovalRequest {
  approval_id: string
  task_call_id: string
  task_name: string
}

type Approvals = readonly Approval[]

/** An outcome with the approvals that it changed, and the answer to a request for approval. */
export interface OutcomeWithApprovals extends Outcome {
  approvals: Approval[]
  answer?: 'created' | 'exists' | 'granted' | 'cancelled'
}

const APPROVAL_STATES = ['CLAIMED', 'RUNNING', 'RESUME_CLAIMED', 'RESUMING']

/** Answers a request with an existing row, an execution-wide grant, or a new pending row. */
export function requestApproval(
  execution: Execution,
  known: Approvals,
  request: ApprovalRequest,
): OutcomeWithApprovals {
  const nothing = { next: execution, events: [], approvals: [], deadlineMs: 'kept' as const }
  if (known.some(({ task_call_id }) => task_call_id === request.task_call_id))
    return { ...nothing, answer: 'exists' }
  if (!APPROVAL_STATES.includes(execution.state)) return { ...nothing, answer: 'cancelled' }
  const grant = known.find(
    ({ task_name, scope, status }) =>
      task_name === request.task_name && scope === 'execution' && status === 'approved',
  )
  const pending: Approval = {
    ...request,
    execution_id: execution.execution_id,
    status: 'pending',
    scope: 'call',
    approver_subject: '',
    approver_provider: '',
  }
  const row: Approval = grant
    ? {
        ...pending,
        status: 'approved',
        approver_subject: grant.approver_subject,
        approver_provider: grant.approver_provider,
        reason: 'standing grant',
        decided_at: grant.decided_at,
      }
    : pending
  const answer = grant ? 'granted' : 'created'
  return { ...nothing, next: { ...execution, gated: true }, approvals: [row], answer }
}

/**
 * Decides a pending approval and resumes the execution if it is paused. If it is not paused yet, its worker
 * reads the decision, or the execution is resumed when it pauses.
 */
export function decideApproval(
  execution: Execution,
  known: Approvals,
  decision: Decision,
  now: Date,
): OutcomeWithApprovals {
  const pending = getPending(known, decision)
  const scope = decision.approved && decision.always ? 'execution' : 'call'
  const { approver_subject, approver_provider, reason } = decision
  const decided: Approval = {
    ...pending,
    status: decision.approved ? 'approved' : 'rejected',
    scope,
    approver_subject,
    approver_provider,
    reason,
    decided_at: now,
  }
  const event = decidedEvent(decided, now)
  if (execution.state !== 'PAUSED')
    return { next: execution, events: [event], approvals: [decided], deadlineMs: 'kept' }
  const { events, ...resumed } = resumeAfterApproval(execution)
  return { ...resumed, events: [...events, event], approvals: [decided] }
}

/** Resumes a paused execution whose approval is decided; this resume has no body. */
export function resumeAfterApproval(execution: Execution): Outcome {
  return {
    next: {
      ...execution,
      state: next(execution.state, 'resume'),
      queued: true,
      resume_due: false,
      preferred_worker: execution.worker_name,
      worker_name: undefined,
      pause_output_json: undefined,
    },
    events: [workflowEvent(execution, 'WORKFLOW_RESUMING')],
    deadlineMs: execution.queue_timeout_ms,
  }
}

/**
 * Applies approvals to an outcome: a pause at an approval that has been decided in the meantime resumes at
 * once, and pending approvals of a cancelled or terminal execution are cancelled.
 */
export function applyApprovals(
  outcome: Outcome,
  known: Approvals,
  now: Date,
): OutcomeWithApprovals {
  const approvals = cancelPending(outcome.next, known, now)
  const pause = outcome.events.find(({ type }) => type === 'WORKFLOW_PAUSED')
  if (outcome.next.state !== 'PAUSED' || !pause || !isApprovalDecided(pause, known))
    return { ...outcome, approvals }
  const { events, ...resumed } = resumeAfterApproval(outcome.next)
  return { ...resumed, events: [...outcome.events, ...events], approvals }
}

function isApprovalDecided({ value_json }: PendingEvent, known: Approvals): boolean {
  const name = stringOf(membersOf(value_json)?.get('name'))
  return known.some(
    ({ task_call_id, status }) =>
      name === `approval:${task_call_id}` && (status === 'approved' || status === 'rejected'),
  )
}

function cancelPending({ state }: Execution, known: Approvals, now: Date): Approval[] {
  if (!isTerminal(state) && state !== 'CANCELLING') return []
  return known
    .filter(({ status }) => status === 'pending')
    .map((approval) => ({ ...approval, status: 'cancelled', decided_at: now }))
}

function getPending(known: Approvals, { task_call_id, task_name }: Decision): Approval {
  const named = (approval: Approval) =>
    task_call_id === '' ? approval.task_name === task_name : approval.task_call_id === task_call_id
  const candidates = known.filter(named)
  const pending = candidates.find(({ status }) => status === 'pending')
  if (pending) return pending
  const decided = candidates.at(-1)
  if (!decided) throw new Fault('not_found', 'not_found', { details: { error: 'not_found' } })
  throw new Fault('conflict', 'already_decided', {
    details: {
      error: 'already_decided',
      current_status: decided.status,
      decided_at: decided.decided_at?.toISOString(),
    },
  })
}

function decidedEvent(approval: Approval, now: Date): PendingEvent {
  const { approver_subject: subject, approver_provider: provider, reason = null, scope } = approval
  return {
    type: approval.status === 'approved' ? 'TASK_APPROVED' : 'TASK_REJECTED',
    source_id: approval.task_call_id,
    name: approval.task_name,
    value_json: JSON.stringify({
      approver: { subject, provider },
      reason,
      decided_at: now.toISOString(),
      scope,
    }),
  }
}
