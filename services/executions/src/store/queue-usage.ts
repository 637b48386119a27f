import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** Queued executions of one principal in one namespace, and the bytes that their inputs take in the table. */
export interface QueueUsage {
  created_by: string
  created_by_issuer: string
  workflow_namespace: string
  count: number
  bytes: number
}

/** Counts the ready queue. Large inputs are not read, because `pg_column_size` knows their stored size. */
export const readQueueUsage = (db: Queries) =>
  db.rows<QueueUsage>(sql`
    select created_by, created_by_issuer, workflow_namespace, count(*)::int as count,
           sum(pg_column_size(input))::float8 as bytes
      from executions where queued_at is not null
     group by created_by, created_by_issuer, workflow_namespace`)
