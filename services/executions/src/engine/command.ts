import {
  type Approval,
  type ApprovalRequest,
  applyApprovals,
  type Decision,
  decideApproval,
  type OutcomeWithApprovals,
  requestApproval,
} from '../domain/approvals.ts'
import type { Checkpoint } from '../domain/checkpoint.ts'
import { checkpoint } from '../domain/checkpoint.ts'
import { type ClaimHolder, fence } from '../domain/claim-holder.ts'
import { cancel, type Resume, resume } from '../domain/client-requests.ts'
import type { Execution, Limits, Outcome, PendingEvent } from '../domain/execution.ts'
import type { Offer } from '../domain/offer.ts'
import {
  claim,
  confirmClaim,
  extendLease,
  type Loss,
  lease,
  lose,
  release,
  timeOut,
  unchanged,
} from '../domain/ownership.ts'
import { park, type WakeCondition, wake } from '../domain/parking.ts'
import type { NewExecution } from '../store/executions.ts'

export type CreateCommand = { kind: 'create'; row: NewExecution }

/** A request to change one execution. Each is safe to repeat. */
export type Command =
  | CreateCommand
  | { kind: 'lease'; offer: Offer; capacity: number }
  | { kind: 'claim'; holder: ClaimHolder; awaits_confirmation?: boolean }
  | { kind: 'confirm_claim'; holder: ClaimHolder; pending_bytes: number }
  | { kind: 'checkpoint'; report: Checkpoint }
  | {
      kind: 'release'
      holder: ClaimHolder
      park?: WakeCondition | undefined
      unclaimed_only?: boolean
      crashed?: boolean | undefined
    }
  | ({ kind: 'resume' } & Resume)
  | { kind: 'cancel'; request_id?: string | undefined }
  | { kind: 'verify'; holder: ClaimHolder }
  | { kind: 'extend_lease'; holder: ClaimHolder; frame_bytes: number }
  | { kind: 'request_approval'; holder: ClaimHolder; request: ApprovalRequest }
  | { kind: 'decide_approval'; decision: Decision }
  /** Sent by this service: the named holder is gone, or the deadline has passed. */
  | { kind: 'lose'; held_by: string; upToConnection: number; loss: Loss }
  | { kind: 'expire' }
  /** Sent by this service: an execution that the parked one waits for has ended. */
  | { kind: 'wake'; claim_generation: number }

export interface ExecutionCommand {
  execution_id: string
  command: Command
  /**
   * Name of the sending process. The answer itself reports that the execution has settled, so this process
   * needs no signal.
   */
  sender?: string | undefined
}

/** The worker that sent a command; undefined for commands of others. */
export function writerOf(command: Command): ClaimHolder | undefined {
  if (command.kind === 'checkpoint') return command.report.holder
  return 'holder' in command ? command.holder : undefined
}

/** Commands that are applied together, in their order. */
export type CommandBatch = readonly ExecutionCommand[]

/** Everything that a decision reads in addition to the row. */
export interface DecisionContext {
  limits: Limits
  isKnown(event: PendingEvent): boolean
  /** True if the worker holds less than its capacity, including the changes of this batch. */
  hasFreeSlot(worker_name: string, capacity: number): boolean
  /** True if the current deadline, after earlier commands of the batch, has passed. */
  isDue: boolean
  /** Approvals of this execution, oldest first; read only if it is gated. */
  approvals: readonly Approval[]
  /** Returns an execution that the command waits for, locked like its own; see `awaitedIdsOf`. */
  findAwaited(execution_id: string): Execution | undefined
  now: Date
}

/** Decides a command by the state machine. Throws the Fault of a refusal. */
export function decide(
  execution: Execution,
  command: Exclude<Command, { kind: 'create' }>,
  context: DecisionContext,
): OutcomeWithApprovals {
  const { approvals, now } = context
  if (command.kind === 'request_approval') {
    fence(execution, command.holder)
    return requestApproval(execution, approvals, command.request)
  }
  if (command.kind === 'decide_approval')
    return decideApproval(execution, approvals, command.decision, now)
  const isRepeated = isRepeatedRequest(command, context.isKnown)
  const outcome = isRepeated ? unchanged(execution) : applyTransition(execution, command, context)
  return applyApprovals(outcome, approvals, now)
}

/** Decides the commands that do not concern approvals. */
function applyTransition(
  execution: Execution,
  command: Exclude<Command, { kind: 'create' | 'request_approval' | 'decide_approval' }>,
  context: DecisionContext,
): Outcome {
  const { limits, isKnown, hasFreeSlot } = context
  switch (command.kind) {
    case 'lease': {
      const { offer, capacity } = command
      return hasFreeSlot(offer.worker_name, capacity)
        ? lease(execution, offer, limits)
        : unchanged(execution)
    }
    case 'claim':
      return claim(execution, command, limits)
    case 'confirm_claim':
      fence(execution, command.holder)
      return confirmClaim(execution, command.pending_bytes, limits)
    case 'checkpoint':
      return checkpoint(execution, command.report, isKnown, limits)
    case 'release':
      return releaseOrPark(execution, command, context)
    case 'resume':
      return resume(execution, command)
    case 'cancel':
      return cancel(execution, limits, command.request_id)
    case 'verify':
      fence(execution, command.holder)
      return unchanged(execution)
    case 'extend_lease':
      fence(execution, command.holder)
      return extendLease(execution, command.frame_bytes, limits)
    case 'lose': {
      const isHolder =
        execution.held_by === command.held_by &&
        (execution.held_connection ?? 0) <= command.upToConnection
      return isHolder ? lose(execution, command.loss, limits) : unchanged(execution)
    }
    case 'expire':
      return context.isDue ? expire(execution, limits) : unchanged(execution)
    case 'wake':
      return wake(execution, command.claim_generation)
  }
}

/** Acts on a deadline that has passed. */
function expire(execution: Execution, limits: Limits): Outcome {
  if (execution.parked) return wake(execution, execution.claim_generation)
  return execution.queued ? timeOut(execution) : lose(execution, 'expired', limits)
}

function releaseOrPark(
  execution: Execution,
  command: Extract<Command, { kind: 'release' }>,
  context: DecisionContext,
): Outcome {
  fence(execution, command.holder)
  if (command.crashed) return lose(execution, 'died', context.limits)
  return command.park
    ? park(execution, command.park, context)
    : release(execution, command, context.limits)
}

/** Types of the events that client requests append with their own ids. */
const REQUEST_EVENTS: Partial<Record<Command['kind'], string>> = {
  resume: 'WORKFLOW_RESUMING',
  cancel: 'WORKFLOW_CANCELLING',
}

/** True if the log already contains this request: its answer was lost, and it was sent again. */
function isRepeatedRequest(command: Command, isKnown: DecisionContext['isKnown']): boolean {
  const type = REQUEST_EVENTS[command.kind]
  const [event_id] = eventIdsOf(command)
  if (!type || !event_id) return false
  return isKnown({ type, event_id, source_id: '', name: '', value_json: 'null' })
}

/** Ids of the events that a command appends with ids chosen by the caller. */
export function eventIdsOf(command: Command): string[] {
  if (command.kind === 'checkpoint')
    return command.report.events.flatMap(({ event_id }) => event_id || [])
  if (command.kind === 'resume' || command.kind === 'cancel')
    return [command.request_id ?? []].flat()
  return []
}

/** Executions that a command waits for: their rows are locked and read together with its own. */
export const awaitedIdsOf = (command: Command): readonly string[] =>
  command.kind === 'release' ? (command.park?.wake_on ?? []) : []
