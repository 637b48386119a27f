import { isSettled, TERMINAL_EVENTS } from '@windlass/domain/states'
import { Fault, unprocessable } from '@windlass/runtime/faults'
import { membersOf } from '@windlass/runtime/json/json'
import { type ClaimHolder, fence, isHeldBy, staleClaim } from './claim-holder.ts'
import type { Execution, Limits, Outcome, PendingEvent } from './execution.ts'
import { next, type Trigger } from './lifecycle.ts'
import { claim, isDelivered, isUnclaimed, lose, withoutHolder } from './ownership.ts'
import { workflowEvent } from './service-events.ts'

export interface Checkpoint {
  holder: ClaimHolder
  /** State reported by the worker. */
  state: string
  output_json?: string
  /** In the worker's order; may include events that the log has already. */
  events: PendingEvent[]
}

/** Trigger of each reported state. Older workers repeat the state of their claim. */
const TRIGGER_BY_STATE: Record<string, Trigger> = {
  CLAIMED: 'work',
  RESUME_CLAIMED: 'work',
  RUNNING: 'work',
  PAUSED: 'pause',
  COMPLETED: 'complete',
  FAILED: 'fail',
  CANCELLED: 'confirm_cancel',
}

/** Event that the log must contain when a trigger has been applied. */
const TERMINAL_EVENT_OF: Partial<Record<Trigger, string>> = {
  pause: 'WORKFLOW_PAUSED',
  complete: 'WORKFLOW_COMPLETED',
  fail: 'WORKFLOW_FAILED',
  confirm_cancel: 'WORKFLOW_CANCELLED',
}

/**
 * Applies a worker's checkpoint. `isKnown` is true for events that the log has already: a checkpoint
 * that is repeated because its answer was lost changes nothing and is accepted.
 */
export function checkpoint(
  execution: Execution,
  report: Checkpoint,
  isKnown: (event: PendingEvent) => boolean,
  limits: Limits,
): Outcome {
  const trigger = TRIGGER_BY_STATE[report.state]
  if (!trigger) throw unknownState(report.state)
  const events = report.events.filter((event) => !isKnown(event))
  if (isSettled(execution.state))
    return acceptIdenticalReport(execution, { ...report, trigger }, events.length > 0)
  fence(execution, report.holder)
  if (trigger === 'confirm_cancel' && execution.state !== 'CANCELLING')
    return releaseOnUnrequestedCancel(execution, report, limits)
  if (isUnclaimed(execution)) return claimAndCheckpoint(execution, report, isKnown, limits)
  const state = next(execution.state, trigger)
  const moved = { ...execution, state }
  if (NON_TERMINAL.has(trigger)) rejectTerminalEvents(report)
  if (trigger !== 'work') return finish(moved, { ...report, events }, trigger)
  if (state === 'CANCELLING' && isDelivered(execution))
    return startCancel(withProgress(execution, events), events, limits)
  if (state === execution.state && events.length === 0) return { next: execution, events }
  const deadlineMs = state === 'CANCELLING' ? 'kept' : undefined
  return { next: withProgress(moved, events), events, deadlineMs }
}

/**
 * Applies the first checkpoint under a lease that was given for it: the claim and the checkpoint in one
 * transaction. Any other checkpoint without a claim is stale.
 */
function claimAndCheckpoint(
  execution: Execution,
  report: Checkpoint,
  isKnown: (event: PendingEvent) => boolean,
  limits: Limits,
): Outcome {
  const { holder } = report
  if (!isDelivered(execution) || holder.claim_generation === undefined) throw staleClaim(execution)
  const claimed = claim(execution, { holder }, limits)
  const outcome = checkpoint(claimed.next, report, isKnown, limits)
  return { ...outcome, events: [...claimed.events, ...outcome.events] }
}

/**
 * The first checkpoint after the cancel of a lease that it may claim: its worker runs the execution, and gets the
 * time that any other has for a cancel. Until then the claim deadline counts.
 */
const startCancel = (execution: Execution, events: PendingEvent[], limits: Limits): Outcome => ({
  next: { ...execution, delivered_generation: undefined },
  events,
  deadlineMs: limits.cancelMs,
})

const NON_TERMINAL = new Set<Trigger>(['work', 'pause'])

/** Rejects terminal events of an execution that continues: readers of its log would see two. */
function rejectTerminalEvents({ state, events }: Checkpoint): void {
  const at = events.findIndex(({ type }) => TERMINAL_EVENTS.has(type))
  if (at < 0) return
  const msg = `is a terminal event, but the state is ${state}`
  throw unprocessable({ loc: ['body', 'events', at, 'type'], msg, type: 'value_error' })
}

/** Accepts the identical checkpoint of a settled execution, and rejects any other as a stale claim. */
function acceptIdenticalReport(
  execution: Execution,
  report: Checkpoint & { trigger: Trigger },
  hasNewEvents: boolean,
): Outcome {
  const holder = { ...report.holder, session_id: '' }
  const isSame =
    report.state === execution.state && !hasNewEvents && hasSameResult(execution, report)
  if (isSame && isHeldBy(execution, holder, execution.worker_name))
    return { next: execution, events: [] }
  throw staleClaim(execution)
}

/** True if the checkpoint carries the stored result, or none. */
function hasSameResult(
  { state, output_json, pause_output_json }: Execution,
  { trigger, events, output_json: reported }: Checkpoint & { trigger: Trigger },
): boolean {
  const closing = events.find(({ type }) => type === TERMINAL_EVENT_OF[trigger])
  if (state === 'PAUSED') return !closing || pauseOutput(closing) === pause_output_json
  if (state === 'CANCELLED') return true
  const value = closing?.value_json ?? reported
  return value === undefined || value === output_json
}

const pauseOutput = ({ value_json }: PendingEvent) => membersOf(value_json)?.get('output') ?? 'null'

/** Releases an execution that a stopping worker reports as CANCELLED without a cancel request. */
function releaseOnUnrequestedCancel(execution: Execution, report: Checkpoint, limits: Limits) {
  if (report.holder.claim_generation === undefined) throw staleClaim(execution)
  return lose(execution, 'released', limits)
}

function withProgress(execution: Execution, events: PendingEvent[]): Execution {
  const completed = events.filter(({ type }) => type === 'TASK_COMPLETED')
  if (completed.length === 0) return execution
  const { pause_source_id } = execution
  const isTaken =
    pause_source_id === undefined ||
    completed.some(({ source_id }) => source_id === pause_source_id)
  return {
    ...execution,
    completions: execution.completions + completed.length,
    // While it is cancelled, progress allows no further attempts: their number bounds the time it takes.
    attempts: execution.state === 'CANCELLING' ? execution.attempts : 1,
    resume_due: execution.resume_due && !isTaken,
    pause_source_id: isTaken ? undefined : pause_source_id,
  }
}

/** Applies a checkpoint after which the worker no longer holds the execution. */
function finish(execution: Execution, report: Checkpoint, trigger: Trigger): Outcome {
  const type = TERMINAL_EVENT_OF[trigger] as string
  const events = [...report.events]
  let closing = events.find((event) => event.type === type)
  if (!closing) {
    closing = { ...workflowEvent(execution, type), value_json: report.output_json ?? 'null' }
    events.push(closing)
  }
  // A pause while CANCELLING is terminal: a paused execution would wait for a resume.
  if (trigger === 'pause' && execution.state === 'CANCELLED')
    events.push(workflowEvent(execution, 'WORKFLOW_CANCELLED'))
  const done = withoutHolder(withProgress(execution, events))
  if (execution.state !== 'PAUSED')
    return {
      next: { ...done, output_json: outputOf(trigger, closing), pause_output_json: undefined },
      events,
    }
  return { next: withPause(done, closing, events), events }
}

const outputOf = (trigger: Trigger, closing: PendingEvent) =>
  trigger === 'complete' || trigger === 'fail' ? closing.value_json : undefined

function withPause(execution: Execution, closing: PendingEvent, events: PendingEvent[]): Execution {
  return {
    ...execution,
    resume_due: false,
    attempts: 0,
    pause_source_id: events.findLast(({ type }) => type === 'TASK_PAUSED')?.source_id,
    pause_output_json: pauseOutput(closing),
  }
}

const unknownState = (state: string) =>
  new Fault('unprocessable', 'A worker cannot report this state.', {
    details: {
      problems: [{ loc: ['body', 'state'], msg: `unexpected state '${state}'`, type: 'enum' }],
    },
  })
