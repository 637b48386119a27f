import type { Tx } from '@windlass/runtime/postgres/db'
import type { Approval } from '../domain/approvals.ts'
import type { Execution } from '../domain/execution.ts'
import * as approvals from '../store/approval-rows.ts'
import * as sweep from '../store/deadlines.ts'
import * as executions from '../store/executions.ts'
import * as log from '../store/log.ts'
import * as ready from '../store/ready.ts'
import { type Command, type ExecutionCommand, eventIdsOf } from './command.ts'

/** Everything that a flush has to know before it decides, read under the locks it holds to its end. */
export interface DecisionInput {
  rows: Map<string, Execution>
  /** What repeated creations find. Not locked, so nothing but an answer is made of it. */
  existing: Map<string, Execution>
  /** New rows of this flush that no command has been answered with yet. */
  inserted: Set<string>
  /** Keys of events that the logs have already. */
  known: Set<string>
  /**
   * Rows whose stored deadline had passed, by the database's clock under their locks. Says nothing
   * about a working copy that an earlier command of the batch has given another deadline.
   */
  expired: ReadonlySet<string>
  /** By execution, of those that have asked for any. */
  approvals: Map<string, Approval[]>
  slots: Slots
}

/** How much each worker holds, kept up to date with the working copies of the batch. */
export interface Slots {
  hasFree(worker_name: string, capacity: number): boolean
  /** Notes that a command has taken an execution from one holder and given it to another. */
  move(from: string | undefined, to: string | undefined): void
}

/** Events are told apart by execution, id and type. */
export const keyOf = (
  execution_id: string,
  { event_id, type }: { event_id?: string; type: string },
) => `${execution_id} ${type} ${event_id}`

type Of<Kind> = Extract<Command, { kind: Kind }>

/** Locks and reads. All statements go out together; the database runs them in this order. */
export async function loadUnderLocks(
  tx: Tx,
  changes: readonly ExecutionCommand[],
): Promise<DecisionInput> {
  const leases = commandsOfKind(changes, 'lease')
  const expiries = commandsOfKind(changes, 'expire')
  // Neither waits for a lock: whoever has it changes the row, and both are asked again.
  const passing = [...leases, ...expiries]
  const creates = commandsOfKind(changes, 'create')
  const others = changes.filter(
    ({ command }) => !['lease', 'create', 'expire'].includes(command.kind),
  )
  const workers = [...new Set(leases.map(({ command }) => command.offer.worker_name))]

  const [, rows, leasable, known, expired, loads, made] = await Promise.all([
    workers.length > 0 ? ready.lockWorkers(tx, workers) : [],
    others.length > 0 ? executions.lock(tx, idsOf(others)) : [],
    passing.length > 0 ? executions.lockAvailable(tx, idsOf(passing)) : [],
    knownEvents(tx, changes),
    expiries.length > 0 ? sweep.findExpired(tx, idsOf(expiries)) : [],
    workers.length > 0 ? ready.loads(tx, workers) : [],
    insertNew(tx, creates),
  ])
  const all = [...rows, ...leasable, ...made.rows]
  return {
    rows: new Map(all.map((row) => [row.execution_id, row])),
    approvals: await approvalsOf(tx, all),
    existing: new Map(made.earlier.map((row) => [row.execution_id, row])),
    inserted: made.created,
    known: new Set(known.map((key) => keyOf(key.execution_id, key))),
    expired: new Set(expired.map(({ execution_id }) => execution_id)),
    slots: slotsOf(loads),
  }
}

/** Few executions ask for approvals; only for them is there one more round trip. */
async function approvalsOf(tx: Tx, rows: readonly Execution[]): Promise<Map<string, Approval[]>> {
  const gated = rows.filter((row) => row.gated)
  const found = gated.length > 0 ? await approvals.ofExecutions(tx, idsOf(gated)) : []
  const byExecution = new Map<string, Approval[]>()
  for (const approval of found)
    byExecution.set(approval.execution_id, [
      ...(byExecution.get(approval.execution_id) ?? []),
      approval,
    ])
  return byExecution
}

function commandsOfKind<Kind extends Command['kind']>(
  changes: readonly ExecutionCommand[],
  kind: Kind,
) {
  return changes.filter(({ command }) => command.kind === kind) as {
    execution_id: string
    command: Of<Kind>
  }[]
}

const idsOf = (changes: readonly { execution_id: string }[]) => [
  ...new Set(changes.map(({ execution_id }) => execution_id)),
]

function knownEvents(
  tx: Tx,
  changes: readonly ExecutionCommand[],
): Promise<log.EventKey[]> | log.EventKey[] {
  const keys = changes.flatMap(({ execution_id, command }) =>
    eventIdsOf(command).map((event_id) => ({ execution_id, event_id })),
  )
  return keys.length > 0 ? log.findKnown(tx, keys) : []
}

/**
 * Rows are inserted in the order of their ids by every flush. Those that are there already are only
 * read: a flush that waited for their locks, behind those it has, could wait for one that waits for it.
 */
async function insertNew(tx: Tx, creates: { execution_id: string; command: Of<'create'> }[]) {
  if (creates.length === 0) return { rows: [], earlier: [], created: new Set<string>() }
  // Of two different requests under one id the first is the one that creates.
  const unique = new Map(
    creates.toReversed().map(({ execution_id, command }) => [execution_id, command.row]),
  )
  const rows = [...unique.values()].sort((a, b) => (a.execution_id < b.execution_id ? -1 : 1))
  const created = await executions.insert(tx, rows)
  const earlier = rows.filter(({ execution_id }) => !created.has(execution_id))
  return {
    rows: rows.filter((row) => created.has(row.execution_id)).map(newRow),
    earlier: earlier.length > 0 ? await executions.readUnlocked(tx, idsOf(earlier)) : [],
    created,
  }
}

/** A row as it is right after its insert. */
export const newRow = (row: executions.NewExecution): Execution => ({
  ...row,
  state: 'SCHEDULED',
  claim_generation: 0,
  queued: true,
  attempts: 0,
  completions: 0,
  resume_due: false,
  gated: false,
  last_seq: 0,
  revision: 0,
  created_at: new Date(),
  updated_at: new Date(),
})

export function slotsOf(loads: readonly { worker_name: string; used: number }[]): Slots {
  const used = new Map(loads.map((load) => [load.worker_name, load.used]))
  const add = (worker_name: string | undefined, count: number) => {
    if (worker_name !== undefined) used.set(worker_name, (used.get(worker_name) ?? 0) + count)
  }
  return {
    hasFree: (worker_name, capacity) => capacity === 0 || (used.get(worker_name) ?? 0) < capacity,
    move(from, to) {
      add(from, -1)
      add(to, 1)
    },
  }
}
