import { isSettled, TERMINAL_EVENTS } from '@windlass/domain/states'
import { Fault, unprocessable } from '@windlass/runtime/faults'
import { membersOf } from '@windlass/runtime/json/json'
import { type ClaimHolder, fence, isHeldBy, staleClaim } from './claim-holder.ts'
import type { Execution, Limits, Outcome, PendingEvent } from './execution.ts'
import { next, type Trigger } from './lifecycle.ts'
import { lose, withoutHolder, workflowEvent } from './ownership.ts'

export interface Checkpoint {
  holder: ClaimHolder
  /** The state that the worker says it is in. */
  state: string
  output_json?: string
  /** In the worker's order; those known already are among them. */
  events: PendingEvent[]
}

/** What a worker's word for its state means here. Older workers go on saying how they were claimed. */
const TRIGGER_BY_STATE: Record<string, Trigger> = {
  CLAIMED: 'work',
  RESUME_CLAIMED: 'work',
  RUNNING: 'work',
  PAUSED: 'pause',
  COMPLETED: 'complete',
  FAILED: 'fail',
  CANCELLED: 'confirm_cancel',
}

/** The event that has to be in the log when a state is reached. */
const TERMINAL_EVENT_OF: Partial<Record<Trigger, string>> = {
  pause: 'WORKFLOW_PAUSED',
  complete: 'WORKFLOW_COMPLETED',
  fail: 'WORKFLOW_FAILED',
  confirm_cancel: 'WORKFLOW_CANCELLED',
}

/**
 * Takes in what a worker reports. `isKnown` tells events that the log has already: a report that
 * is sent again after its answer was lost changes nothing and is no error.
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
  if (execution.state === 'SCHEDULED' || execution.state === 'RESUME_SCHEDULED')
    throw staleClaim(execution)
  const state = next(execution.state, trigger)
  const moved = { ...execution, state }
  if (NON_TERMINAL.has(trigger)) rejectTerminalEvents(report)
  if (trigger !== 'work') return finish(moved, { ...report, events }, trigger)
  if (state === execution.state && events.length === 0) return { next: execution, events }
  const deadlineMs = state === 'CANCELLING' ? 'kept' : undefined
  return { next: withProgress(moved, events), events, deadlineMs }
}

const NON_TERMINAL = new Set<Trigger>(['work', 'pause'])

/** What goes on has no end in its log: its readers would see two. */
function rejectTerminalEvents({ state, events }: Checkpoint): void {
  const at = events.findIndex(({ type }) => TERMINAL_EVENTS.has(type))
  if (at < 0) return
  const msg = `is an end, but the state is ${state}`
  throw unprocessable({ loc: ['body', 'events', at, 'type'], msg, type: 'value_error' })
}

/** After the end, only the very same report is fine. */
function acceptIdenticalReport(
  execution: Execution,
  report: Checkpoint & { trigger: Trigger },
  hasNews: boolean,
): Outcome {
  const writer = { ...report.holder, session_id: '' }
  const same = report.state === execution.state && !hasNews && hasSameResult(execution, report)
  if (same && isHeldBy(execution, writer, execution.worker_name))
    return { next: execution, events: [] }
  throw staleClaim(execution)
}

/** Whether the report ends with what is stored as its end; one that says nothing of it agrees. */
function hasSameResult(
  { state, output_json, pause_output_json }: Execution,
  { trigger, events, output_json: said }: Checkpoint & { trigger: Trigger },
): boolean {
  const closing = events.find(({ type }) => type === TERMINAL_EVENT_OF[trigger])
  if (state === 'PAUSED') return !closing || pauseOutput(closing) === pause_output_json
  if (state === 'CANCELLED') return true
  const value = closing?.value_json ?? said
  return value === undefined || value === output_json
}

const pauseOutput = ({ value_json }: PendingEvent) => membersOf(value_json)?.get('output') ?? 'null'

/** A worker that stops says CANCELLED of work that nobody asked to cancel: it means a release. */
function releaseOnUnrequestedCancel(
  execution: Execution,
  { holder }: Checkpoint,
  limits: Limits,
): Outcome {
  if (holder.claim_generation === undefined) throw staleClaim(execution)
  return lose(execution, 'released', limits)
}

function withProgress(execution: Execution, events: PendingEvent[]): Execution {
  const completed = events.filter(({ type }) => type === 'TASK_COMPLETED')
  if (completed.length === 0) return execution
  const { pause_source_id } = execution
  const taken =
    pause_source_id === undefined ||
    completed.some(({ source_id }) => source_id === pause_source_id)
  return {
    ...execution,
    completions: execution.completions + completed.length,
    attempts: 1,
    resume_due: execution.resume_due && !taken,
    pause_source_id: taken ? undefined : pause_source_id,
  }
}

/** The worker is done with it: paused, completed, failed or cancelled. */
function finish(moved: Execution, report: Checkpoint, trigger: Trigger): Outcome {
  const type = TERMINAL_EVENT_OF[trigger] as string
  const events = [...report.events]
  let closing = events.find((event) => event.type === type)
  if (!closing) {
    closing = { ...workflowEvent(moved, type), value_json: report.output_json ?? 'null' }
    events.push(closing)
  }
  // A pause of something that is being cancelled ends it: nobody would wake it up again.
  if (trigger === 'pause' && moved.state === 'CANCELLED')
    events.push(workflowEvent(moved, 'WORKFLOW_CANCELLED'))
  const done = withoutHolder(withProgress(moved, events))
  if (moved.state !== 'PAUSED')
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
  new Fault('unprocessable', 'state is none that a worker can report', {
    details: {
      problems: [{ loc: ['body', 'state'], msg: `unexpected state '${state}'`, type: 'enum' }],
    },
  })
