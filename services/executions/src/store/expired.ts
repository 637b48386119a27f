import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import type { CreationPosition, SweepTask, WorkflowName } from '../domain/sweep-plan.ts'
import { terminalEvents, terminalStates } from './columns.ts'
import { deleteLines, deleteSome } from './line-rows.ts'
import { listDeletedByRow } from './partition-rows.ts'

/** Time for which a reserved idempotency key answers with its execution. */
const KEY_LIFETIME = sql`interval '24 hours'`
/**
 * Longer than any transaction: the transaction ids of overlapping ends may be ordered differently than
 * their times.
 */
const OVERLAP = sql`interval '1 minute'`

/** Reads the workflows that have finished executions. */
export const listWorkflows = (db: Queries) =>
  db.rows<WorkflowName>(sql`
    select workflow_namespace, workflow_name from (${finishedTotals}) as counts
     group by 1, 2 having sum(total) > 0 order by 1, 2`)

const finishedTotals = sql`
  select workflow_namespace, workflow_name, total from totals where state in ${terminalStates}
  union all
  select workflow_namespace, workflow_name, delta from totals_delta where state in ${terminalStates}`

export async function countFinished(db: Queries): Promise<number> {
  const row = await db.maybe<{ total: number }>(
    sql`select coalesce(sum(total), 0)::bigint as total from (${finishedTotals}) as counts`,
  )
  return row?.total ?? 0
}

/** True if this transaction may delete: one replica deletes at a time. */
export async function lockSweep(tx: Tx): Promise<boolean> {
  const row = await tx.maybe<{ held: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtext(current_schema() || '.retention')) as held`,
  )
  return row?.held ?? false
}

/** Reads a page of the executions of a task, oldest first, finished or not. The index alone answers it. */
export const scan = (db: Queries, { workflow, days, after }: SweepTask, limit: number) =>
  db.rows<CreationPosition>(sql`
    select execution_id, created_at::text from executions
     where created_at <= ${ageLimit(days)} ${workflow ? ofWorkflow(workflow) : sql``}
       ${after ? sql`and (created_at, execution_id) > (${after.created_at}::timestamptz, ${after.execution_id}::uuid)` : sql``}
     order by created_at, execution_id limit ${limit}`)

const ofWorkflow = ({ workflow_namespace, workflow_name }: WorkflowName) => sql`
  and workflow_namespace = ${workflow_namespace} and workflow_name = ${workflow_name}`

/** A time that an index can be read up to, unlike `clock_timestamp()`. */
const ageLimit = (days: number): Sql =>
  sql`statement_timestamp() - ${days * 86_400}::float8 * interval '1 second'`

export interface Expired extends CreationPosition {
  created_ms: number
  /** Entries of the log, and captured lines. */
  log_size: number
}

/**
 * Returns those of the executions that a task deletes, oldest first: finished for longer than its age, and
 *   - their end is published, to other services and to executions that wait for it;
 *   - the execution that started them has ended: until then it asks for them again. Where it is unknown
 *     (rows from before it was stored), no execution that can have started them is unfinished.
 */
export const filterExpired = (
  db: Queries,
  { rule, days }: SweepTask,
  ids: readonly string[],
  limit: number,
) =>
  db.rows<Expired>(sql`
    with published as (${publishedUntil})
    select e.execution_id, e.created_at::text,
           e.last_seq + coalesce((select l.line_count from captured_lines l
              where l.execution_id = e.execution_id and l.part in (0, e.log_part) order by l.seq desc limit 1), 0) as log_size,
           floor(extract(epoch from e.created_at) * 1000)::float8 as created_ms
      from executions e, published
     where e.execution_id = any(${ids}::uuid[])
       and e.finished_at <= least(${ageLimit(days)}, published.until)
       and (e.restored_at is null or e.restored_at <= ${ageLimit(days)})
       ${rule === 'logs' ? sql`and not e.log_deleted` : sql``}
       and not exists (select from wake_conditions w where w.wakes_on = e.execution_id)
       and not exists (select from executions p
                        where p.execution_id = e.parent_id and p.finished_at is null)
       and (e.depth = 0 or e.parent_id is not null or not exists (
             select from executions p
              where p.finished_at is null and p.created_at <= e.created_at and p.depth < e.depth))
     order by e.created_at, e.execution_id limit ${limit}`)

/** Ends before this time have been read by all readers of terminal events. */
const publishedUntil = sql`
  select coalesce(min(x.finished_at) - ${OVERLAP}, 'infinity') as until
    from (select name from relay_cursor union select 'executions') as reader
    left join relay_cursor c using (name)
   cross join lateral (
     select execution_id from events
      where type in ${terminalEvents}
        and (xid, execution_id, seq) > (coalesce(c.xid, '0'),
              coalesce(c.execution_id, '00000000-0000-0000-0000-000000000000'), coalesce(c.seq, 0))
      order by xid, execution_id, seq limit 1) as unread
    join executions x on x.execution_id = unread.execution_id`

/** Locks rows that still exist and are not locked; returns their ids. */
export async function lockRows(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ execution_id: string }>(sql`
    select execution_id from executions where execution_id = any(${ids}::uuid[])
     order by execution_id for update skip locked`)
  return rows.map(({ execution_id }) => execution_id)
}

/**
 * Deletes finished executions with approvals and totals, and the logs and captured lines of all but those
 * in `withLog`. Entries and lines in a partition that is no longer used are left to its drop. Ids that may
 * still be referred to are recorded.
 */
export async function deleteExecutions(
  tx: Tx,
  ids: readonly string[],
  withLog: readonly string[],
): Promise<void> {
  const parts = await listDeletedByRow(tx)
  const withoutLog = ids.filter((id) => !withLog.includes(id))
  await Promise.all([
    ...parts.map((part) =>
      tx.run(sql`
        delete from events where part = ${part} and execution_id = any(${withoutLog}::uuid[])`),
    ),
    ...parts.map((part) => deleteLines(tx, withoutLog, part)),
    tx.run(sql`delete from approvals where execution_id = any(${ids}::uuid[])`),
    tx.run(sql`delete from wake_conditions where execution_id = any(${ids}::uuid[])`),
    tx.run(sql`
      insert into deleted_executions (execution_id, refused_until, has_log)
      select execution_id, clock_timestamp() + ${KEY_LIFETIME}, execution_id = any(${withLog}::uuid[])
        from executions
       where execution_id = any(${ids}::uuid[])
         and (execution_id = any(${withLog}::uuid[])
              or request_hash <> '' and created_at > clock_timestamp() - ${KEY_LIFETIME})
      on conflict (execution_id) do update
         set refused_until = excluded.refused_until, has_log = excluded.has_log`),
    tx.run(sql`
      with deleted as (
        delete from executions where execution_id = any(${ids}::uuid[])
        returning workflow_namespace, workflow_name, state)
      insert into totals_delta (workflow_namespace, workflow_name, state, delta)
      select workflow_namespace, workflow_name, state, -count(*) from deleted group by 1, 2, 3`),
  ])
}

/**
 * Deletes logs and captured lines of finished executions, except for the last event: a reader of the log
 * ends with it.
 */
export const deleteLogs = (tx: Tx, ids: readonly string[]): Promise<unknown> =>
  Promise.all([
    tx.run(sql`
      delete from events
       where execution_id = any(${ids}::uuid[]) and type not in ${terminalEvents}`),
    deleteLines(tx, ids),
    tx.run(sql`
      update executions set log_deleted = true where execution_id = any(${ids}::uuid[])`),
  ])

/** Deletes a part of the log of a deleted execution; true if there may be more to delete. */
export async function deleteOrphanedLog(tx: Tx, limit: number): Promise<boolean> {
  const owner = await tx.maybe<{ execution_id: string }>(sql`
    select execution_id from deleted_executions where has_log
     order by execution_id limit 1 for update skip locked`)
  if (!owner) return false
  const { execution_id } = owner
  const deleted = await tx.run(sql`
    delete from events
     where execution_id = ${execution_id} and seq in (
       select seq from events where execution_id = ${execution_id} order by seq limit ${limit})`)
  const rest = limit - deleted
  if (rest > 0 && (await deleteSome(tx, execution_id, rest)) < rest)
    await tx.run(sql`
      update deleted_executions set has_log = false where execution_id = ${execution_id}`)
  return true
}

/** Deletes records of deleted executions to which nothing refers any more; true if there may be more. */
export async function deleteRecords(db: Queries, limit: number): Promise<boolean> {
  const deleted = await db.run(sql`
    delete from deleted_executions where execution_id in (
      select execution_id from deleted_executions
       where refused_until < statement_timestamp() and not has_log
       order by refused_until limit ${limit} for update skip locked)`)
  return deleted === limit
}

/** Deletes decided approvals of finished executions; true if there may be more. */
export async function deleteApprovals(db: Queries, days: number, limit: number): Promise<boolean> {
  const deleted = await db.run(sql`
    delete from approvals where approval_id in (
      select a.approval_id from approvals a join executions e using (execution_id)
       where a.status <> 'pending' and a.decided_at <= ${ageLimit(days)} and e.finished_at is not null
       order by a.execution_id limit ${limit} for update of a skip locked)`)
  return deleted === limit
}
