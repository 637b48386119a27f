import { conflict, Fault, notFound, unavailable } from '@windlass/runtime/faults'
import type { Approval } from '../domain/approvals.ts'
import { isHiddenFrom } from '../domain/claim-holder.ts'
import type { Execution, Limits, PendingEvent } from '../domain/execution.ts'
import type { StoredEntry } from '../store/log.ts'
import type * as totals from '../store/totals.ts'
import { type Command, decide, type ExecutionCommand, writerOf } from './command.ts'
import { type DecisionInput, keyOf } from './decision-input.ts'

/** The committed row and whether this command changed it, or the fault of the refusal. */
export type CommandResult =
  | { execution: Execution; changed: boolean; answer?: string }
  | { fault: Fault }

/** A row and its pending log entries while commands are applied in order. */
export interface WorkingCopy {
  /** Absent: the row is new. */
  before: Execution | undefined
  after: Execution
  deadlineMs: number | 'kept' | undefined
  /** True if a command of this batch has put it into the ready queue. */
  enteredQueue: boolean
  entries: StoredEntry[]
  approvals: Approval[]
  /** Executions whose end wakes it, if this batch has parked it. */
  wake_on: readonly string[]
}

/** Applies one command to the working copy of its execution. A refused command leaves it unchanged. */
export function applyCommand(
  input: DecisionInput,
  copies: Map<string, WorkingCopy>,
  { execution_id, command }: ExecutionCommand,
  limits: Limits,
): CommandResult {
  try {
    if (command.kind === 'create') return applyCreate(input, copies, command)
    const copy = copies.get(execution_id) ?? openWorkingCopy(input, execution_id)
    if (!copy) {
      // Leases and deadlines skip locked rows, so a row that was not read may exist.
      if (command.kind === 'lease' || command.kind === 'expire')
        throw new Fault('conflict', 'The execution is being modified; retry.')
      throw notFound('Execution', execution_id)
    }
    const writer = writerOf(command)
    if (writer && isHiddenFrom(writer, copy.after)) throw notFound('Execution', execution_id)
    copies.set(execution_id, copy)
    const before = copy.after
    const answer = runCommand(input, copy, command, { limits, copies })
    return { execution: copy.after, changed: copy.after !== before, answer }
  } catch (error) {
    if (error instanceof Fault) return { fault: error }
    throw error
  }
}

function openWorkingCopy(input: DecisionInput, execution_id: string): WorkingCopy | undefined {
  const row = storedRow(input, execution_id)
  return row && workingCopy(row, row)
}

/** The row does not exist yet; a later command of this batch creates it. */
const storedRow = ({ inserted, rows }: DecisionInput, execution_id: string) =>
  inserted.has(execution_id) ? undefined : rows.get(execution_id)

const workingCopy = (before: Execution | undefined, after: Execution): WorkingCopy => ({
  before,
  after,
  deadlineMs: 'kept',
  enteredQueue: false,
  entries: [],
  approvals: [],
  wake_on: [],
})

/** Answers a repeated create with the row of the first one; refuses it if the two requests differ. */
function applyCreate(
  input: DecisionInput,
  copies: Map<string, WorkingCopy>,
  { row }: Extract<Command, { kind: 'create' }>,
): CommandResult {
  const { execution_id } = row
  const stored =
    copies.get(execution_id)?.after ??
    input.rows.get(execution_id) ??
    input.existing.get(execution_id)
  if (!stored) throw row.not_after ? arrivedLate() : executionDeleted()
  const isSameRequest =
    stored.workflow_name === row.workflow_name &&
    stored.workflow_namespace === row.workflow_namespace &&
    stored.request_hash === row.request_hash
  if (!isSameRequest) throw differentRequest()
  const changed = input.inserted.delete(execution_id)
  if (changed) copies.set(execution_id, workingCopy(undefined, stored))
  return { execution: stored, changed }
}

/** `mayStart` has refused the row, or retention has deleted it in the meantime. */
const executionDeleted = () =>
  conflict(
    'The execution of this request was deleted by [svc.retention]: send a new request to run it again.',
  )

const arrivedLate = () => unavailable('The create arrived after its time limit; send it again.')

const differentRequest = () =>
  new Fault('unprocessable', 'the same key was used for a different request', {
    details: {
      problems: [
        {
          loc: ['header', 'Idempotency-Key'],
          msg: 'the same key was used for a different request',
          type: 'value_error',
        },
      ],
    },
  })

function runCommand(
  input: DecisionInput,
  copy: WorkingCopy,
  command: Exclude<Command, { kind: 'create' }>,
  { limits, copies }: { limits: Limits; copies: ReadonlyMap<string, WorkingCopy> },
): string | undefined {
  const { after: execution } = copy
  const { execution_id } = execution
  const now = new Date()
  const approvals = input.approvals.get(execution_id) ?? []
  const outcome = decide(execution, command, {
    limits,
    isKnown: (event) => input.known.has(keyOf(execution_id, event)),
    hasFreeSlot: (worker, capacity) => input.slots.hasFree(worker, capacity),
    isDue: isDue(input, copy),
    approvals,
    findAwaited: (id) => copies.get(id)?.after ?? storedRow(input, id),
    now,
  })
  if (outcome.next === execution && outcome.events.length === 0) return outcome.answer
  copy.approvals = merge(copy.approvals, outcome.approvals)
  input.approvals.set(execution_id, merge(approvals, outcome.approvals))
  const time = now.toISOString()
  let seq = execution.last_seq
  for (const event of outcome.events) {
    const entry = toEntry(execution, ++seq, event, time)
    if (input.known.has(keyOf(execution_id, entry))) continue
    input.known.add(keyOf(execution_id, entry))
    copy.entries.push(entry)
  }
  const revision = execution.revision + 1
  copy.after = { ...outcome.next, last_seq: seq, revision, updated_at: now }
  if (outcome.deadlineMs !== 'kept') copy.deadlineMs = outcome.deadlineMs
  if (outcome.next.queued && !execution.queued) copy.enteredQueue = true
  if (outcome.wake_on) copy.wake_on = outcome.wake_on
  input.slots.move(execution.held_by, outcome.next.held_by)
  return outcome.answer
}

/**
 * Compares the deadline of the working copy with the database's clock. The stored deadline counts only
 * until a command of the batch sets or clears it; a new one starts with the commit.
 */
const isDue = ({ expired }: DecisionInput, { after, deadlineMs }: WorkingCopy): boolean =>
  deadlineMs === 'kept' ? expired.has(after.execution_id) : (deadlineMs ?? Infinity) <= 0

/** Replaces approvals by id. They stay in the order of their requests; new ones come last. */
function merge(known: readonly Approval[], changed: readonly Approval[]): Approval[] {
  const byId = new Map(known.map((approval) => [approval.approval_id, approval]))
  for (const approval of changed) byId.set(approval.approval_id, approval)
  return [...byId.values()]
}

const toEntry = (
  { execution_id, log_part }: Execution,
  seq: number,
  { type, source_id, name, value_json, ...event }: PendingEvent,
  time: string,
): StoredEntry => ({
  execution_id,
  seq,
  event_id: event.event_id || generatedId(execution_id, seq),
  type,
  source_id,
  name,
  value_json,
  time: event.time || time,
  part: log_part,
})

/** Sixteen hex digits, as workers send them; unique within the execution, which suffices. */
const generatedId = (execution_id: string, seq: number) =>
  execution_id.slice(-8) + seq.toString(16).padStart(8, '0')

/** Changes that the working copies make to the totals, summed for each workflow and state. */
export function totalsDeltas(copies: readonly WorkingCopy[]): totals.TotalsDelta[] {
  const sums = new Map<string, totals.TotalsDelta>()
  const add = ({ workflow_namespace, workflow_name, state }: Execution, delta: number) => {
    const key = JSON.stringify([workflow_namespace, workflow_name, state])
    const sum = sums.get(key) ?? { workflow_namespace, workflow_name, state, delta: 0 }
    sums.set(key, { ...sum, delta: sum.delta + delta })
  }
  for (const { before, after } of copies) {
    if (before?.state === after.state) continue
    if (before) add(before, -1)
    add(after, 1)
  }
  return [...sums.values()].filter(({ delta }) => delta !== 0)
}
