import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { Connection } from './workers.ts'

/** Stored state and record of a worker, as far as matching needs them. JSON columns as text. */
export interface StoredWorkerState extends Connection {
  session_id: string
  healthy: boolean
  /** Changes whenever another column does. */
  changed_at: string
  packages: string
  resources?: string
  labels: string
  runners: string
  namespaces?: string
  max_concurrent_executions: number
  claims_by_delivery: boolean
  keeps_workflows: boolean
  continues_cancelled: boolean
}

const columns = sql`name, session_id, connection_generation, healthy, changed_at::text as changed_at,
  packages, resources, labels, runners, namespaces, max_concurrent_executions, claims_by_delivery,
  keeps_workflows, continues_cancelled`

/**
 * Marks a stream as open at this dispatcher under a new connection generation. Undefined if the name is
 * unknown or belongs to another session; without a session id, the newest session of the name is used.
 */
export const connect = (
  db: Queries,
  { name, session_id, replica_id }: { name: string; session_id?: string; replica_id: string },
) =>
  db.maybe<StoredWorkerState>(sql`
    with mine as (
      update workers
         set connection_generation = connection_generation + 1, connected = true,
             connected_at = now(), replica_id = ${replica_id}, healthy = true, evicted_at = null,
             closed_generation = null,
             last_seen_at = now(), changed_at = now()
       where name = ${name} and session_id = coalesce(${session_id ?? null}::uuid, session_id)
      returning name, session_id, connection_generation, healthy, changed_at)
    select ${columns} from mine join records using (name)`)

/** Marks streams as closed, unless they are superseded. Rows are locked in name order. */
export const disconnect = (db: Queries, gone: readonly Connection[]) =>
  db.run(sql`
    update workers w set connected = false, replica_id = null, changed_at = now(), disconnected_at = now()
      from (select w.name from workers w
              join unnest(${gone.map(({ name }) => name)}::text[],
                          ${gone.map((it) => it.connection_generation)}::bigint[]) as g (name, generation)
                on w.name = g.name and w.connection_generation = g.generation
             where w.connected order by w.name for update of w) as mine
     where w.name = mine.name`)

export const readWorkerStates = (db: Queries, names: readonly string[]) =>
  db.rows<StoredWorkerState>(sql`
    select ${columns} from workers join records using (name) where name = any(${names}::text[])`)

/** Newest metrics of workers, as JSON text; workers without metrics are left out. */
export const readMetrics = (db: Queries, names: readonly string[]) =>
  db.rows<{ name: string; metrics: string }>(sql`
    select name, metrics from workers where name = any(${names}::text[]) and metrics::text <> '{}'`)
