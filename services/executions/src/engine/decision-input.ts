import type { Tx } from '@windlass/runtime/postgres/db'
import type { Approval } from '../domain/approvals.ts'
import type { Execution } from '../domain/execution.ts'
import * as approvals from '../store/approval-rows.ts'
import { copyLog } from '../store/copied-logs.ts'
import * as deadlines from '../store/deadlines.ts'
import * as executions from '../store/executions.ts'
import * as log from '../store/log.ts'
import * as ready from '../store/ready.ts'
import { awaitedIdsOf, type Command, type CommandBatch, eventIdsOf } from './command.ts'

/**
 * Everything that a batch reads before it decides; on the pessimistic path, under locks that are held until
 * its end.
 */
export interface DecisionInput {
  rows: Map<string, Execution>
  /** Rows that repeated creates found. They are not locked, so they are used only for answers. */
  existing: Map<string, Execution>
  /** Ids of rows that this batch inserted and that no command has answered with yet. */
  inserted: Set<string>
  /** Keys of events that the logs already contain. */
  known: Set<string>
  /**
   * Rows whose stored deadline had passed, by the database's clock and under their locks. Not valid for a
   * working copy to which an earlier command of the batch has given another deadline.
   */
  expired: ReadonlySet<string>
  /** By execution id; only gated executions have any. */
  approvals: Map<string, Approval[]>
  slots: Slots
}

/** Load of each worker, updated with the working copies of the batch. */
export interface Slots {
  hasFree(worker_name: string, capacity: number): boolean
  /** Moves one execution from a holder to another; either may be absent. */
  move(from: string | undefined, to: string | undefined): void
}

/** Identity of an event: execution, type and id. */
export const keyOf = (
  execution_id: string,
  { event_id, type }: { event_id?: string; type: string },
) => `${execution_id} ${type} ${event_id}`

type CommandOf<Kind> = Extract<Command, { kind: Kind }>

/** Locks and reads rows. The statements are pipelined; the database runs them in this order. */
export async function loadUnderLocks(tx: Tx, commands: CommandBatch): Promise<DecisionInput> {
  const leases = commandsOfKind(commands, 'lease')
  const expiries = commandsOfKind(commands, 'expire')
  // Neither command waits for a lock: the holder of the lock changes the row, and both commands are sent
  // again.
  const skipping = [...leases, ...expiries]
  const creates = commandsOfKind(commands, 'create')
  const others = commands.filter(
    ({ command }) => !['lease', 'create', 'expire'].includes(command.kind),
  )
  const workers = [...new Set(leases.map(({ command }) => command.offer.worker_name))]

  const [, rows, available, known, expired, loads, created] = await Promise.all([
    workers.length > 0 ? ready.lockWorkers(tx, workers) : [],
    others.length > 0 ? executions.lock(tx, lockedIdsOf(others)) : [],
    skipping.length > 0 ? executions.lockAvailable(tx, idsOf(skipping)) : [],
    knownEvents(tx, commands),
    expiries.length > 0 ? deadlines.findExpired(tx, idsOf(expiries)) : [],
    workers.length > 0 ? ready.loads(tx, workers) : [],
    insertNew(tx, creates),
  ])
  const all = [...rows, ...available, ...created.rows]
  return {
    rows: new Map(all.map((row) => [row.execution_id, row])),
    approvals: await approvalsOf(tx, all),
    existing: new Map(created.existing.map((row) => [row.execution_id, row])),
    inserted: created.inserted,
    known: new Set(known.map((key) => keyOf(key.execution_id, key))),
    expired: new Set(expired.map(({ execution_id }) => execution_id)),
    slots: slotsOf(loads),
  }
}

/** Reads the approvals of gated executions. It costs one more round trip, but few executions are gated. */
async function approvalsOf(tx: Tx, rows: readonly Execution[]): Promise<Map<string, Approval[]>> {
  const gated = rows.filter((row) => row.gated)
  const found = gated.length > 0 ? await approvals.listOfExecutions(tx, idsOf(gated)) : []
  const byExecution = new Map<string, Approval[]>()
  for (const approval of found)
    byExecution.set(approval.execution_id, [
      ...(byExecution.get(approval.execution_id) ?? []),
      approval,
    ])
  return byExecution
}

function commandsOfKind<Kind extends Command['kind']>(commands: CommandBatch, kind: Kind) {
  return commands.filter(({ command }) => command.kind === kind) as {
    execution_id: string
    command: CommandOf<Kind>
  }[]
}

/** Rows that commands lock: their own, and those that they wait for. */
export const lockedIdsOf = (commands: CommandBatch): string[] => [
  ...new Set(commands.flatMap((one) => [one.execution_id, ...awaitedIdsOf(one.command)])),
]

const idsOf = (commands: readonly { execution_id: string }[]) => [
  ...new Set(commands.map(({ execution_id }) => execution_id)),
]

function knownEvents(tx: Tx, commands: CommandBatch): Promise<log.EventKey[]> | log.EventKey[] {
  const keys = commands.flatMap(({ execution_id, command }) =>
    eventIdsOf(command).map((event_id) => ({ execution_id, event_id })),
  )
  return keys.length > 0 ? log.findKnown(tx, keys) : []
}

/**
 * Inserts rows in the order of their ids, as every batch does. Existing rows are read without a lock: a
 * batch that waited for them while it holds other locks could deadlock with another one.
 */
async function insertNew(
  tx: Tx,
  creates: { execution_id: string; command: CommandOf<'create'> }[],
) {
  if (creates.length === 0) return { rows: [], existing: [], inserted: new Set<string>() }
  // If two different requests have one id, the first one creates the execution.
  const unique = new Map(
    creates.toReversed().map(({ execution_id, command }) => [execution_id, command.row]),
  )
  const rows = [...unique.values()].sort((a, b) => (a.execution_id < b.execution_id ? -1 : 1))
  const inserted = await executions.insert(tx, rows)
  const isNew = ({ execution_id }: executions.NewExecution) => inserted.has(execution_id)
  for (const row of rows.filter(isNew)) if (row.fork) await copyLog(tx, row)
  const existing = rows.filter(({ execution_id }) => !inserted.has(execution_id))
  return {
    rows: rows.filter(isNew).map(newRow),
    existing: existing.length > 0 ? await executions.readUnlocked(tx, idsOf(existing)) : [],
    inserted,
  }
}

/** The row as it is right after its insert. */
export const newRow = ({ priority: _, ...row }: executions.NewExecution): Execution => ({
  ...row,
  state: 'SCHEDULED',
  claim_generation: 0,
  queued: true,
  parked: false,
  attempts: 0,
  completions: row.fork?.completions ?? 0,
  resume_due: false,
  gated: false,
  last_seq: row.fork?.seqs?.length ?? 0,
  revision: 0,
  log_part: row.log_part ?? 0,
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
