import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export interface CancellingRow {
  execution_id: string
  held_by: string
  claim_generation: number
  /** The worker that lost it after the cancel. */
  passed_over?: string
}

/** Position in the order of deadlines: a page starts after it. */
export interface DeadlineCursor {
  execution_id: string
  /** Text, because a Date would drop the microseconds. */
  deadline_at: string
}

const FIRST: DeadlineCursor = { execution_id: '0'.repeat(32), deadline_at: '-infinity' }

/**
 * Reads a page of executions whose deadline has passed, oldest first. Skips locked rows, because they are
 * being changed. The time is that of the statement: no index is read up to `clock_timestamp()`, which may
 * differ from row to row.
 */
export const listExpired = (db: Queries, limit: number, after: DeadlineCursor = FIRST) =>
  db.rows<DeadlineCursor>(sql`
    select execution_id, deadline_at::text from executions e
     where e.deadline_at < statement_timestamp()
       and (e.deadline_at, e.execution_id) > (${after.deadline_at}::timestamptz, ${after.execution_id}::uuid)
     order by e.deadline_at, e.execution_id limit ${limit}
       for update skip locked`)

/** Reads executions whose worker has not answered a cancel yet. */
export const listCancelling = (db: Queries, limit: number) =>
  db.rows<CancellingRow>(sql`
    select execution_id, held_by, claim_generation, passed_over from executions
     where deadline_at is not null and state = 'CANCELLING' and held_by is not null
     order by deadline_at limit ${limit}`)

/** Reads executions that a worker holds on connections up to `generation`. */
export const listHeldBy = (db: Queries, worker_name: string, generation: number) =>
  db.rows<{ execution_id: string }>(sql`
    select execution_id from executions
     where held_by = ${worker_name} and coalesce(held_connection, 0) <= ${generation}`)

/** Returns the ids of those locked rows whose deadline has passed by the database's clock. */
export const findExpired = (db: Queries, ids: readonly string[]) =>
  db.rows<{ execution_id: string }>(sql`
    select execution_id from executions
     where execution_id = any(${ids}::uuid[]) and deadline_at < clock_timestamp()`)
