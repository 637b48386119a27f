import type { Worker } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { Queries, Tx } from '@windlass/runtime/db'
import { type Sql, sql } from '@windlass/runtime/sql'
import { type Status, statusOf } from '../domain/presence.ts'
import { live } from './workers.ts'

interface Row {
  name: string
  session_id: string
  healthy: boolean
  connected: boolean
  metrics: string
  last_seen_at: Date
  registered_at: Date
  runtime?: string
  packages: string
  resources?: string
  labels: string
  runners: string
  max_concurrent_executions: number
}

/** How long a worker that left is still listed, in hours; it can be asked for by name for ever. */
const LISTED_HOURS = 2

export const save = (tx: Tx, worker: Worker) =>
  tx.run(sql`
    insert into records (name, runtime, packages, resources, labels, runners, max_concurrent_executions)
    values (${worker.name}, ${json(worker.runtime)}, ${json(worker.packages)}, ${json(worker.resources)},
            ${json(worker.labels)}, ${json(worker.runners)}, ${worker.max_concurrent_executions})
    on conflict (name) do update
       set runtime = excluded.runtime, packages = excluded.packages, resources = excluded.resources,
           labels = excluded.labels, runners = excluded.runners,
           max_concurrent_executions = excluded.max_concurrent_executions`)

export async function find(db: Queries, name: string): Promise<Worker | undefined> {
  const [worker] = await select(db, sql`w.name = ${name}`)
  return worker
}

/** Workers that are there or were lately, by name. */
export async function list(db: Queries, status: string): Promise<Worker[]> {
  const recent = sql`w.connected or w.last_seen_at > now() - make_interval(hours => ${LISTED_HOURS})`
  const workers = await select(db, recent)
  return status === '' ? workers : workers.filter((worker) => worker.status === status)
}

async function select(db: Queries, matching: Sql): Promise<Worker[]> {
  const rows = await db.rows<Row>(sql`
    select name, session_id, healthy, ${live} as connected, metrics, last_seen_at, registered_at,
           runtime, packages, resources, labels, runners, max_concurrent_executions
      from workers w join records using (name) where ${matching} order by name`)
  return rows.map(worker)
}

function worker({ healthy, connected, ...row }: Row): Worker & { status: Status } {
  return {
    ...row,
    runtime: row.runtime === undefined ? undefined : JSON.parse(row.runtime),
    resources: row.resources === undefined ? undefined : JSON.parse(row.resources),
    packages: JSON.parse(row.packages),
    labels: JSON.parse(row.labels),
    runners: JSON.parse(row.runners),
    metrics: JSON.parse(row.metrics),
    status: statusOf({ connected, healthy }),
  }
}

const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))
