import { Fault, notFound } from '@windlass/runtime/faults'
import type { Approval } from '../domain/approvals.ts'
import type { Execution, Limits, PendingEvent } from '../domain/execution.ts'
import type * as log from '../store/log.ts'
import type * as totals from '../store/totals.ts'
import { type Command, decide, type ExecutionCommand } from './command.ts'
import { type DecisionInput, keyOf } from './decision-input.ts'

/** What became of one command: the row as committed and whether this command changed it, or why it was refused. */
export type CommandResult =
  | { execution: Execution; changed: boolean; answer?: string }
  | { fault: Fault }

/** The working copy of a row while its commands are applied in order. */
export interface WorkingCopy {
  /** Absent: the row is new. */
  before: Execution | undefined
  after: Execution
  deadlineMs: number | 'kept' | undefined
  /** A command of this batch has put it into the ready queue. */
  enteredQueue: boolean
  entries: log.StoredEntry[]
  approvals: Approval[]
}

/** Applies one command to the working copy of its execution. A refused one leaves it as it was. */
export function applyCommand(
  scene: DecisionInput,
  draughts: Map<string, WorkingCopy>,
  { execution_id, command }: ExecutionCommand,
  limits: Limits,
): CommandResult {
  try {
    if (command.kind === 'create') return applyCreate(scene, draughts, command)
    const draught = draughts.get(execution_id) ?? openWorkingCopy(scene, execution_id)
    if (!draught) {
      if (command.kind === 'lease' || command.kind === 'expire')
        throw new Fault('conflict', 'another flush has it')
      throw notFound('Execution', execution_id)
    }
    draughts.set(execution_id, draught)
    const before = draught.after
    const answer = runCommand(scene, draught, command, limits)
    return { execution: draught.after, changed: draught.after !== before, answer }
  } catch (error) {
    if (error instanceof Fault) return { fault: error }
    throw error
  }
}

function openWorkingCopy(scene: DecisionInput, execution_id: string): WorkingCopy | undefined {
  // A row that a later command of this batch creates does not exist yet.
  const row = scene.inserted.has(execution_id) ? undefined : scene.rows.get(execution_id)
  return row && workingCopy(row, row)
}

const workingCopy = (before: Execution | undefined, after: Execution): WorkingCopy => ({
  before,
  after,
  deadlineMs: 'kept',
  enteredQueue: false,
  entries: [],
  approvals: [],
})

/** A repeated create finds what the first one made, unless the two ask for different things. */
function applyCreate(
  scene: DecisionInput,
  draughts: Map<string, WorkingCopy>,
  { row }: Extract<Command, { kind: 'create' }>,
): CommandResult {
  const { execution_id } = row
  const made =
    draughts.get(execution_id)?.after ??
    scene.rows.get(execution_id) ??
    scene.existing.get(execution_id)
  if (!made) throw new Error('a created row is missing')
  const same =
    made.workflow_name === row.workflow_name &&
    made.workflow_namespace === row.workflow_namespace &&
    made.request_hash === row.request_hash
  if (!same) throw differentRequest()
  const changed = scene.inserted.delete(row.execution_id)
  if (changed) draughts.set(row.execution_id, workingCopy(undefined, made))
  return { execution: made, changed }
}

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
  scene: DecisionInput,
  draught: WorkingCopy,
  command: Exclude<Command, { kind: 'create' }>,
  limits: Limits,
): string | undefined {
  const { after: execution } = draught
  const { execution_id } = execution
  const now = new Date()
  const approvals = scene.approvals.get(execution_id) ?? []
  const outcome = decide(execution, command, {
    limits,
    isKnown: (event) => scene.known.has(keyOf(execution_id, event)),
    hasFreeSlot: (worker, capacity) => scene.slots.hasFree(worker, capacity),
    isDue: isDue(scene, draught),
    approvals,
    now,
  })
  if (outcome.next === execution && outcome.events.length === 0) return outcome.answer
  draught.approvals = replaced(draught.approvals, outcome.approvals)
  scene.approvals.set(execution_id, replaced(approvals, outcome.approvals))
  const time = now.toISOString()
  let seq = execution.last_seq
  for (const event of outcome.events) {
    const entry = entryOf(execution_id, ++seq, event, time)
    if (scene.known.has(keyOf(execution_id, entry))) continue
    scene.known.add(keyOf(execution_id, entry))
    draught.entries.push(entry)
  }
  const revision = execution.revision + 1
  draught.after = { ...outcome.next, last_seq: seq, revision, updated_at: now }
  if (outcome.deadlineMs !== 'kept') draught.deadlineMs = outcome.deadlineMs
  if (outcome.next.queued && !execution.queued) draught.enteredQueue = true
  scene.slots.move(execution.held_by, outcome.next.held_by)
  return outcome.answer
}

/**
 * Compares the deadline of the working copy with the database's clock. The one that was read counts
 * only until a command of the batch sets or clears it: a new one starts with the commit.
 */
const isDue = ({ expired }: DecisionInput, { after, deadlineMs }: WorkingCopy): boolean =>
  deadlineMs === 'kept' ? expired.has(after.execution_id) : (deadlineMs ?? Infinity) <= 0

/** Approvals keep their order, which is that of the requests; new ones are the last. */
function replaced(known: readonly Approval[], changed: readonly Approval[]): Approval[] {
  const byId = new Map(known.map((approval) => [approval.approval_id, approval]))
  for (const approval of changed) byId.set(approval.approval_id, approval)
  return [...byId.values()]
}

function entryOf(
  execution_id: string,
  seq: number,
  event: PendingEvent,
  time: string,
): log.StoredEntry {
  const { type, source_id, name, value_json } = event
  const event_id = event.event_id || ownId(execution_id, seq)
  return {
    execution_id,
    seq,
    event_id,
    type,
    source_id,
    name,
    value_json,
    time: event.time || time,
  }
}

/** Sixteen hex digits, like those of workers; unique in its execution, which is all that is asked of it. */
const ownId = (execution_id: string, seq: number) =>
  execution_id.slice(-8) + seq.toString(16).padStart(8, '0')

/** What the working copies change in the totals. */
export function totalsDeltas(draughts: readonly WorkingCopy[]): totals.TotalsDelta[] {
  const sums = new Map<string, totals.TotalsDelta>()
  const add = ({ workflow_namespace, workflow_name, state }: Execution, delta: number) => {
    const key = JSON.stringify([workflow_namespace, workflow_name, state])
    const sum = sums.get(key) ?? { workflow_namespace, workflow_name, state, delta: 0 }
    sums.set(key, { ...sum, delta: sum.delta + delta })
  }
  for (const { before, after } of draughts) {
    if (before?.state === after.state) continue
    if (before) add(before, -1)
    add(after, 1)
  }
  return [...sums.values()].filter(({ delta }) => delta !== 0)
}
