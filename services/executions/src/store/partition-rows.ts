/**
 * Partitions of the log (migrations/0029_partitioned_log.sql). The log of an execution is in the partition
 * `executions.log_part`, and in partition 0 as far as replicas of earlier releases have written it. Captured lines
 * are in partitions with the same numbers, which triggers create, drop and move
 * (migrations/0032_partitioned_lines.sql, 0033_moved_lines.sql).
 */
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export interface LogPartition {
  part: number
  /** Milliseconds until it is used; negative: since then. */
  starts_in_ms: number
}

/** Partitions after the first, in the order of their times. */
export const list = (db: Queries) =>
  db.rows<LogPartition>(sql`
    select part, (extract(epoch from starts_at - clock_timestamp()) * 1000)::float8 as starts_in_ms
      from log_partitions order by part`)

/** Creates the partition after the last one, if that is in use. Throws if it gets no lock within 100 ms. */
export const create = (
  db: Queries,
  { length_s, notice_s }: { length_s: number; notice_s: number },
) =>
  db.run(sql`
    select create_log_partition(${length_s}::float8 * interval '1 second',
                                ${notice_s}::float8 * interval '1 second')`)

/** Time after which nothing uses a partition any more that the next one has followed. */
const UNUSED = sql`interval '10 minutes'`

/** Partitions that have not been used for a while, the oldest first, with the days since then. */
export const listUnused = (db: Queries) =>
  db.rows<{ part: number; unused_days: number }>(sql`
    select part, extract(epoch from clock_timestamp() - ends_at)::float8 / 86400 as unused_days
      from (select part, lead(starts_at) over (order by part) as ends_at from log_partitions) as used
     where ends_at < clock_timestamp() - ${UNUSED} order by part`)

/** Executions with their log in a partition, oldest first. Their creation is at its time, give or take the time of a batch. */
export const listExecutions = (db: Queries, part: number, limit: number) =>
  db.rows<{ execution_id: string }>(sql`
    select e.execution_id
      from (select part, starts_at, lead(starts_at, 1, 'infinity') over (order by part) as ends_at
              from log_partitions) as p
      join executions e on e.created_at >= p.starts_at - interval '2 minutes'
                       and e.created_at < p.ends_at + interval '2 minutes'
     where p.part = ${part} and e.log_part = ${part}
     order by e.created_at, e.execution_id limit ${limit}`)

/**
 * Moves entries and then captured lines of an execution to partition 0, at most `limit` together, and the execution
 * after the last one. The revision makes a writer that has read the row read it again. Readers find all of them in
 * between: they read both partitions. Returns the number of moved rows; undefined if the row is locked.
 */
export async function moveLog(tx: Tx, id: string, limit: number): Promise<number | undefined> {
  const row = await tx.maybe<{ log_part: number }>(sql`
    select log_part from executions where execution_id = ${id} for update skip locked`)
  if (!row) return undefined
  if (row.log_part === 0) return 0
  const entries = await tx.run(sql`
    update events set part = 0
     where execution_id = ${id} and part = ${row.log_part} and seq in (
       select seq from events where execution_id = ${id} and part = ${row.log_part}
        order by seq limit ${limit})`)
  const moved = entries + (await moveLines(tx, id, row.log_part, limit - entries))
  if (moved < limit)
    await tx.run(sql`
      update executions set log_part = 0, revision = revision + 1 where execution_id = ${id}`)
  return moved
}

/** Partition 0 may have some of them: a request that a replica of an earlier release has answered was repeated. */
async function moveLines(tx: Tx, id: string, part: number, limit: number): Promise<number> {
  const row = await tx.maybe<{ moved: number }>(sql`
    with moved as (
      delete from captured_lines
       where execution_id = ${id} and part = ${part} and seq in (
         select seq from captured_lines where execution_id = ${id} and part = ${part}
          order by seq limit ${limit})
      returning *), stored as (
      insert into captured_lines
        (execution_id, seq, task_id, task_name, level, logger, message, time, line_count, byte_count, part)
      select execution_id, seq, task_id, task_name, level, logger, message, time, line_count, byte_count, 0
        from moved
      on conflict do nothing)
    select count(*)::int as moved from moved`)
  return row?.moved ?? 0
}

/** Drops an unused partition that no execution has its log in; false: one has. Throws without a lock within 100 ms. */
export async function drop(db: Queries, part: number): Promise<boolean> {
  const row = await db.maybe<{ dropped: boolean }>(
    sql`select drop_log_partition(${part}) as dropped`,
  )
  return row?.dropped ?? false
}

/** Partitions whose entries are deleted row by row: partition 0, and those that may still be used. */
export const listDeletedByRow = async (db: Queries): Promise<number[]> => {
  const rows = await db.rows<{ part: number }>(sql`
    select part from (select part, lead(starts_at) over (order by part) as ends_at from log_partitions) as used
     where ends_at is null or ends_at >= clock_timestamp() - ${UNUSED}`)
  return [0, ...rows.map(({ part }) => part)]
}
