import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Change } from './command.ts'
import type { Execution, Limits } from './domain/execution.ts'
import { apply, type Draught, deltasOf, type Result } from './draught.ts'
import { gather } from './scene.ts'
import * as approvals from './store/approvals.ts'
import * as executions from './store/executions.ts'
import * as log from './store/log.ts'
import * as totals from './store/totals.ts'

/** One execution that a flush changed: before (absent: it is new), after, and what was appended to its log. */
export interface Effect {
  before: Execution | undefined
  after: Execution
  entries: log.Entry[]
}

export interface Flushed {
  results: Result[]
  effects: Effect[]
}

/**
 * Applies many commands in one transaction: locks their rows in the order of their ids, lets the
 * state machine decide each, and writes all results with one statement a table. A refused command
 * leaves no trace and does not touch its neighbours.
 */
export function flush(db: Db, changes: readonly Change[], limits: Limits): Promise<Flushed> {
  return db.tx(async (tx) => {
    const scene = await gather(tx, changes)
    const draughts = new Map<string, Draught>()
    const results = changes.map((change) => apply(scene, draughts, change, limits))
    const effects = [...draughts.values()].filter(({ before, after }) => before !== after)
    await save(tx, effects)
    return { results, effects }
  })
}

/** Row locks are held; now the rows, the log, the counters, in that order, and the commit behind them. */
async function save(tx: Tx, draughts: readonly Draught[]): Promise<void> {
  // A new row is written already, unless more came for it in the same flush.
  const updates = draughts
    .filter(({ before, after }) => before !== undefined || after.revision > 0)
    .map(({ after, ...draught }) => ({ ...draught, next: after }))
  const entries = draughts.flatMap((draught) => draught.entries)
  const deltas = deltasOf(draughts)
  const decided = draughts.flatMap((draught) => draught.approvals)
  const written = Promise.all([
    updates.length > 0 && executions.update(tx, updates),
    entries.length > 0 && log.append(tx, entries),
    deltas.length > 0 && totals.add(tx, deltas),
    decided.length > 0 && approvals.save(tx, decided),
  ])
  await tx.commitBehind(written)
}
