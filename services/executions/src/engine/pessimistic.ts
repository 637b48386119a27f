import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Limits } from '../domain/execution.ts'
import * as approvals from '../store/approval-rows.ts'
import * as executions from '../store/executions.ts'
import * as log from '../store/log.ts'
import * as totals from '../store/totals.ts'
import * as wakeConditions from '../store/wake-conditions.ts'
import { applyCommand, totalsDeltas, type WorkingCopy } from './apply.ts'
import type { BatchResult } from './batch.ts'
import type { CommandBatch } from './command.ts'
import { loadUnderLocks } from './decision-input.ts'

/**
 * Pessimistic path: in one transaction, locks the rows in the order of their ids, decides each command in
 * the order given, and writes all results with one statement for each table. A refused command writes
 * nothing and does not affect its neighbours.
 */
export function applyUnderLocks(
  db: Db,
  commands: CommandBatch,
  limits: Limits,
): Promise<BatchResult> {
  return db.tx(async (tx) => {
    const input = await loadUnderLocks(tx, commands)
    const copies = new Map<string, WorkingCopy>()
    const results = new Map(
      commands.map((command) => [command, applyCommand(input, copies, command, limits)]),
    )
    const committed = [...copies.values()].filter(({ before, after }) => before !== after)
    await save(tx, committed)
    return { results, committed }
  })
}

/** Writes under the row locks: rows, log, totals and approvals, with the commit pipelined behind them. */
async function save(tx: Tx, copies: readonly WorkingCopy[]): Promise<void> {
  // The insert has already written a new row; it is updated only if this batch has changed it since.
  const updates = copies
    .filter(({ before, after }) => before !== undefined || after.revision > 0)
    .map(({ after, ...copy }) => ({ ...copy, next: after }))
  const entries = copies.flatMap((copy) => copy.entries)
  const deltas = totalsDeltas(copies)
  const decided = copies.flatMap((copy) => copy.approvals)
  const parked = copies.flatMap(({ after, wake_on }) =>
    after.parked ? wake_on.map((wakes_on) => ({ ...after, wakes_on })) : [],
  )
  const written = Promise.all([
    updates.length > 0 && executions.update(tx, updates),
    entries.length > 0 && log.append(tx, entries),
    deltas.length > 0 && totals.add(tx, deltas),
    decided.length > 0 && approvals.save(tx, decided),
    parked.length > 0 && wakeConditions.save(tx, parked),
  ])
  await tx.commitBehind(written)
}
