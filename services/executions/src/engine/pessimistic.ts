import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Execution, Limits } from '../domain/execution.ts'
import * as approvals from '../store/approval-rows.ts'
import * as executions from '../store/executions.ts'
import * as log from '../store/log.ts'
import * as totals from '../store/totals.ts'
import { applyCommand, type CommandResult, totalsDeltas, type WorkingCopy } from './apply.ts'
import type { ExecutionCommand } from './command.ts'
import { loadUnderLocks } from './decision-input.ts'

/** One execution that a flush changed: before (absent: it is new), after, and what was appended to its log. */
export interface CommittedChange {
  before: Execution | undefined
  after: Execution
  entries: log.StoredEntry[]
}

export interface LockedBatchResult {
  results: CommandResult[]
  committed: CommittedChange[]
}

/**
 * Applies many commands in one transaction: locks their rows in the order of their ids, lets the
 * state machine decide each, and writes all results with one statement a table. A refused command
 * leaves no trace and does not touch its neighbours.
 */
export function applyUnderLocks(
  db: Db,
  changes: readonly ExecutionCommand[],
  limits: Limits,
): Promise<LockedBatchResult> {
  return db.tx(async (tx) => {
    const scene = await loadUnderLocks(tx, changes)
    const draughts = new Map<string, WorkingCopy>()
    const results = changes.map((change) => applyCommand(scene, draughts, change, limits))
    const committed = [...draughts.values()].filter(({ before, after }) => before !== after)
    await save(tx, committed)
    return { results, committed }
  })
}

/** Row locks are held; now the rows, the log, the counters, in that order, and the commit behind them. */
async function save(tx: Tx, draughts: readonly WorkingCopy[]): Promise<void> {
  // A new row is written already, unless more came for it in the same flush.
  const updates = draughts
    .filter(({ before, after }) => before !== undefined || after.revision > 0)
    .map(({ after, ...draught }) => ({ ...draught, next: after }))
  const entries = draughts.flatMap((draught) => draught.entries)
  const deltas = totalsDeltas(draughts)
  const decided = draughts.flatMap((draught) => draught.approvals)
  const written = Promise.all([
    updates.length > 0 && executions.update(tx, updates),
    entries.length > 0 && log.append(tx, entries),
    deltas.length > 0 && totals.add(tx, deltas),
    decided.length > 0 && approvals.save(tx, decided),
  ])
  await tx.commitBehind(written)
}
