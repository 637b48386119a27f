import type { HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import type { Handlers } from '@windlass/rpc/call'
import { notFound, unprocessable } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { type ForkPlan, planFork } from '../domain/fork.ts'
import type { Command } from '../engine/command.ts'
import { logDeleted, readOutlineOf } from '../store/copied-logs.ts'
import * as executions from '../store/executions.ts'

/** Maximum number of log entries of an origin: a fork copies them in one transaction. */
const MAX_ENTRIES = 100_000
const MAX_LISTED_CALLS = 1_000

interface PlannedFork extends ForkPlan {
  last_seq: number
}

async function plan(db: Db, execution_id: string, after_seq: number): Promise<PlannedFork> {
  const [row] = await executions.readUnlocked(db, [execution_id])
  if (!row) throw notFound('Execution', execution_id)
  const { last_seq } = row
  if (last_seq > MAX_ENTRIES)
    throw problem(`the log has ${last_seq} entries; a fork copies at most ${MAX_ENTRIES}`)
  const outline = await readOutlineOf(db, execution_id, MAX_ENTRIES)
  // Retention deletes logs before rows and leaves the last entry: a fork would run everything again.
  if (after_seq > 0 && last_seq > 0 && outline[0]?.seq !== 1) throw logDeleted()
  return { ...planFork(outline, after_seq), last_seq }
}

const problem = (msg: string) =>
  unprocessable({ loc: ['body', 'after_seq'], msg, type: 'value_error' })

/** Creates the handler of `PlanFork`. */
export const createPlanForkHandler =
  (db: Db): Handlers<typeof HistoryService>['planFork'] =>
  async ({ execution_id, after_seq }) => {
    const { seqs, calls, runs_again, last_seq } = await plan(db, execution_id, after_seq)
    return {
      ...{ found: after_seq <= last_seq, last_seq, entries: seqs.length, calls },
      runs_again: runs_again.slice(0, MAX_LISTED_CALLS),
      cut: runs_again.length > MAX_LISTED_CALLS,
    }
  }

/** Adds to a fork the entries that it begins with; returns any other command unchanged. */
export async function withLogOfOrigin(db: Db, command: Command): Promise<Command> {
  if (command.kind !== 'create' || !command.row.fork) return command
  const { origin_id = '', fork } = command.row
  const { seqs, completions, last_seq } = await plan(db, origin_id, fork.after_seq)
  if (fork.after_seq > last_seq) throw problem(`must be at most ${last_seq}, the end of the log`)
  return { ...command, row: { ...command.row, fork: { ...fork, seqs, completions } } }
}
