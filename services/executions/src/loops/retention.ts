/**
 * Retention: deletes what `[svc.retention]` does not keep.
 *
 * Problem
 *
 * Finished executions, their logs and approvals grow without bound. Deleting them must not delay the
 * execution writer, must not be counted twice or not at all in the totals, and must never remove what a
 * running execution, another service or a client still needs.
 *
 * Protocol
 *
 * A sweep is a list of passes (domain/sweep-plan.ts): for each workflow with an age of its own executions,
 * and one over all for the maximum. A pass reads pages in the order of creation by an existing index, so
 * workflows that are kept cost nothing, and no index on the end of an execution is written for each. A
 * round of the loop handles one page:
 *
 *   read     the page, and of it what has expired (store/expired.ts has the conditions)
 *   archive  these, if there is one; a failure ends the round, and nothing is deleted
 *   begin
 *     pg_try_advisory_xact_lock   another replica sweeps: this sweep ends
 *     lock the rows that are not locked
 *     delete logs, captured lines, approvals, rows; subtract them from the totals. Log and lines of an
 *     execution stay if their partition is no longer used: it is dropped later, with all others of its time
 *   commit
 *
 * Guarantees
 *
 *   - An execution that has not ended is never deleted, nor one whose end is not published, nor one whose
 *     parent has not ended.
 *   - Totals and lists agree at every commit.
 *   - Each transaction deletes at most `batch_size` rows and MAX_EVENTS log entries and captured lines:
 *     the log of an execution with more is deleted in parts after its row, and `deleted_executions` remembers it.
 *   - A request that repeats an idempotency key within 24 hours never runs again: it is refused if its
 *     execution was deleted.
 *   - Rounds are safe to repeat. A crash loses the position in the sweep only.
 *
 * Rejected
 *
 *   - Partitions of `executions` by time, dropped when they are old, as those of the log are
 *     (engine/log-partitions.ts): each statement of an execution would lock every partition with its indexes, and totals,
 *     workflows with other ages and living executions need the rows one by one anyway. See ADR 18 and 23.
 *   - An index on `finished_at`: one more entry to write for each execution, for a read of each hour.
 */
import type { ObjectStore } from '@windlass/runtime/object-store/object-store'
import type { Db, Queries } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { planSweep, type RetentionRules, type SweepTask } from '../domain/sweep-plan.ts'
import { archiveExecutions } from '../engine/archive.ts'
import * as store from '../store/expired.ts'

/** Maximum number of index rows that a round reads. */
const SCAN = 2_000
/** Maximum number of log entries and captured lines in one transaction. */
const MAX_EVENTS = 20_000

export interface RetentionSettings extends RetentionRules {
  approval_days: number
  batch_size: number
}

interface RetentionDeps {
  db: Db
  settings: RetentionSettings
  log: Pick<Logger, 'info'>
  /** Store to which executions are written before they are deleted. */
  objects?: ObjectStore | undefined
}

/** Creates the round of the sweep loop. A round resolves to true until the sweep is complete. */
export function createRetentionSweep(deps: RetentionDeps) {
  const { db, settings, log } = deps
  let tasks: SweepTask[] | undefined
  let deleted = 0

  return async (): Promise<boolean> => {
    tasks ??= planSweep(settings, await store.listWorkflows(db))
    const [task] = tasks
    if (task) {
      const done = await runTask(deps, task)
      deleted += done.deleted
      if (done.after) task.after = done.after
      else tasks.shift()
      if (done.isLocked) tasks.length = 0
      return true
    }
    const { approval_days, batch_size } = settings
    if (approval_days > 0 && (await store.deleteApprovals(db, approval_days, batch_size)))
      return true
    if (deleted > 0) log.info({ deleted }, 'retention sweep completed')
    tasks = undefined
    deleted = 0
    return false
  }
}

interface Done {
  deleted: number
  /** Position of the next page; absent: the pass is complete. */
  after?: SweepTask['after']
  /** Another replica sweeps. */
  isLocked?: boolean
}

async function runTask(deps: RetentionDeps, task: SweepTask): Promise<Done> {
  const { db, settings, objects } = deps
  const limit = Math.min(settings.batch_size, await excessOf(db, settings, task))
  if (limit <= 0) return { deleted: 0 }
  const page = await store.scan(db, task, SCAN)
  const ids = page.map(({ execution_id }) => execution_id)
  const expired = await store.filterExpired(db, task, ids, limit)
  const taken = withinEvents(expired)
  const isCut = taken.length < expired.length || expired.length === limit
  const after = isCut ? taken.at(-1) : page.length === SCAN ? page.at(-1) : undefined
  if (taken.length === 0) return { deleted: 0, after }
  if (objects) await archiveExecutions(db, objects, taken)
  const deleted = await deleteBatch(db, settings, task, taken)
  return deleted === undefined ? { deleted: 0, isLocked: true } : { deleted, after }
}

/** Number of executions above the maximum; Infinity for tasks with an age. */
const excessOf = async (db: Queries, { max_executions }: RetentionSettings, { rule }: SweepTask) =>
  rule === 'excess' ? (await store.countFinished(db)) - max_executions : Infinity

/**
 * Returns the first executions, with at most MAX_EVENTS log entries in total; larger logs are deleted
 * later.
 */
function withinEvents(expired: readonly store.Expired[]): store.Expired[] {
  let events = 0
  const end = expired.findIndex(({ log_size }) => {
    events += isLarge(log_size) ? 0 : log_size
    return events > MAX_EVENTS
  })
  return expired.slice(0, end < 0 ? undefined : end)
}

const isLarge = (log_size: number) => log_size > MAX_EVENTS

/** Deletes from these executions what the task names; undefined if another replica is sweeping. */
const deleteBatch = (
  db: Db,
  settings: RetentionSettings,
  task: SweepTask,
  expired: readonly store.Expired[],
): Promise<number | undefined> =>
  db.tx(async (tx) => {
    if (!(await store.lockSweep(tx))) return undefined
    const wanted = expired.slice(0, Math.max(0, await excessOf(tx, settings, task)))
    const ids = await store.lockRows(
      tx,
      wanted.map(({ execution_id }) => execution_id),
    )
    if (ids.length === 0) return 0
    if (task.rule === 'logs') await store.deleteLogs(tx, ids)
    else {
      const large = wanted.filter(({ log_size }) => isLarge(log_size))
      await store.deleteExecutions(
        tx,
        ids,
        large.map(({ execution_id }) => execution_id),
      )
    }
    return ids.length
  })

/** Deletes one batch of the logs that deleted executions left behind; true if there may be more. */
export async function deleteRemains(db: Db): Promise<boolean> {
  if (await db.tx((tx) => store.deleteOrphanedLog(tx, MAX_EVENTS))) return true
  return store.deleteRecords(db, SCAN)
}
