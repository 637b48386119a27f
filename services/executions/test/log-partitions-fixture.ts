import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { LogPartitions, type PartitionRules } from '../src/engine/log-partitions.ts'
import { dropPartitions } from '../src/loops/drop-partitions.ts'

export const partitionRules: PartitionRules = {
  retention_days: 30,
  namespaces: {},
  workflows: { 'default/own': 5 },
  max_executions: 0,
  log_days: 0,
  log_partitions: 8,
}

/** Creates a partition of the log for each of these ages, the oldest first: it is used since so many days. */
export async function addPartitions(db: Db, ...daysAgo: number[]): Promise<void> {
  for (const days of daysAgo) {
    await db.run(sql`select create_log_partition('1 day', '0')`)
    await db.run(sql`
      update log_partitions set starts_at = clock_timestamp() - ${days}::float8 * interval '1 day'
       where part = (select max(part) from log_partitions)`)
  }
}

export const openPartitions = (db: Db, nowMs: () => number, rules = partitionRules) =>
  new LogPartitions({ db, rules, nowMs })

export const drop = (db: Db, rules = partitionRules) =>
  dropPartitions({ db, rules, log: { info() {} } })

/** Names of the tables of the log, or of captured lines, as the database has them. */
export async function tablesOf(db: Db, of = 'events'): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select relid::text as name from pg_partition_tree(${of}::regclass) where isleaf order by 1`)
  return rows.map(({ name }) => name)
}

/** Entries of an execution by partition. */
export async function entriesOf(db: Db, execution_id = ''): Promise<Record<number, number>> {
  const rows = await db.rows<{ part: number; entries: number }>(sql`
    select part, count(*)::int as entries from events where execution_id = ${execution_id}
     group by part order by part`)
  return Object.fromEntries(rows.map(({ part, entries }) => [part, entries]))
}
