import type { Queries } from '@windlass/runtime/db'
import { sql } from '@windlass/runtime/sql'

export interface Held {
  execution_id: string
  held_by: string
}

/** Executions whose deadline has passed, longest ago first. */
export const expired = (db: Queries, limit: number) =>
  db.rows<{ execution_id: string }>(sql`
    select execution_id from executions
     where deadline_at < clock_timestamp() order by deadline_at limit ${limit}`)

/** Executions whose worker was asked to cancel and has not answered yet. */
export const cancelling = (db: Queries, limit: number) =>
  db.rows<Held>(sql`
    select execution_id, held_by from executions
     where deadline_at is not null and state = 'CANCELLING' and held_by is not null
     order by deadline_at limit ${limit}`)

/** What a worker holds on connections up to `generation`. */
export const heldBy = (db: Queries, worker_name: string, generation: number) =>
  db.rows<{ execution_id: string }>(sql`
    select execution_id from executions
     where held_by = ${worker_name} and coalesce(held_connection, 0) <= ${generation}`)

/** Which of these locked rows are due by the database's clock. */
export const dueAmong = (db: Queries, ids: readonly string[]) =>
  db.rows<{ execution_id: string }>(sql`
    select execution_id from executions
     where execution_id = any(${ids}::uuid[]) and deadline_at < clock_timestamp()`)
