import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export interface CancellingRow {
  execution_id: string
  held_by: string
}

/** A place among the deadlines: what comes after it has not been looked at. */
export interface DeadlineCursor {
  execution_id: string
  /** Text, since a Date would cut its microseconds off. */
  deadline_at: string
}

const FIRST: DeadlineCursor = {
  execution_id: '00000000000000000000000000000000',
  deadline_at: '-infinity',
}

/** A page of executions whose deadline has passed, longest ago first. Whoever holds a row's lock is changing it, so it is left out. */
export const listExpired = (
  db: Queries,
  limit: number,
  { deadline_at, execution_id }: DeadlineCursor = FIRST,
) =>
  db.rows<DeadlineCursor>(sql`
    select execution_id, deadline_at::text from executions e
     where e.deadline_at < clock_timestamp()
       and (e.deadline_at, e.execution_id) > (${deadline_at}::timestamptz, ${execution_id}::uuid)
     order by e.deadline_at, e.execution_id limit ${limit}
       for update skip locked`)

/** Executions whose worker was asked to cancel and has not answered yet. */
export const listCancelling = (db: Queries, limit: number) =>
  db.rows<CancellingRow>(sql`
    select execution_id, held_by from executions
     where deadline_at is not null and state = 'CANCELLING' and held_by is not null
     order by deadline_at limit ${limit}`)

/** What a worker holds on connections up to `generation`. */
export const listHeldBy = (db: Queries, worker_name: string, generation: number) =>
  db.rows<{ execution_id: string }>(sql`
    select execution_id from executions
     where held_by = ${worker_name} and coalesce(held_connection, 0) <= ${generation}`)

/** Which of these locked rows are due by the database's clock. */
export const findExpired = (db: Queries, ids: readonly string[]) =>
  db.rows<{ execution_id: string }>(sql`
    select execution_id from executions
     where execution_id = any(${ids}::uuid[]) and deadline_at < clock_timestamp()`)
