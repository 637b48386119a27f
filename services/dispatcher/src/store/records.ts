import type { Worker } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { statusOf } from '../domain/presence.ts'
import { hasLiveStream } from './workers.ts'

/** What the service itself knows of a worker. */
interface WorkerStatusRow {
  session_id: string
  healthy: boolean
  connected: boolean
  metrics: string
  last_seen_at: Date
  registered_at: Date
}

/** What a worker said of itself. */
interface WorkerRecord {
  name: string
  runtime?: string
  packages: string
  resources?: string
  labels: string
  runners: string
  max_concurrent_executions: number
}

const statusColumns = sql`session_id, healthy, ${hasLiveStream} as connected, metrics, last_seen_at, registered_at`

/** How long a worker that left is still listed, in hours; it can be asked for by name for ever. */
const LISTED_HOURS = 2

/** Of the workers `w` those that are there or were lately. */
export const isListed = sql`w.connected or w.last_seen_at > now() - make_interval(hours => ${LISTED_HOURS})`

/** Stores what a worker says of itself; answers the worker as it stands then. */
export async function save(tx: Tx, worker: Worker): Promise<Worker> {
  const { name, runtime, packages, resources, labels, runners } = worker
  await tx.run(sql`
    insert into records (name, runtime, packages, resources, labels, runners, max_concurrent_executions)
    values (${name}, ${toJson(runtime)}, ${toJson(packages)}, ${toJson(resources)}, ${toJson(labels)},
            ${toJson(runners)}, ${worker.max_concurrent_executions})
    on conflict (name) do update
       set runtime = excluded.runtime, packages = excluded.packages, resources = excluded.resources,
           labels = excluded.labels, runners = excluded.runners,
           max_concurrent_executions = excluded.max_concurrent_executions`)
  const row = await tx.maybe<WorkerStatusRow>(
    sql`select ${statusColumns} from workers w where name = ${name}`,
  )
  return row ? { ...worker, ...toStatus(row) } : worker
}

export async function find(db: Queries, name: string): Promise<Worker | undefined> {
  const [worker] = await readWorkers(db, sql`w.name = ${name}`)
  return worker
}

/** Workers that are there or were lately, by name. */
export async function list(db: Queries, status: string): Promise<Worker[]> {
  const workers = await readWorkers(db, isListed)
  return status === '' ? workers : workers.filter((worker) => worker.status === status)
}

async function readWorkers(db: Queries, matching: Sql): Promise<Worker[]> {
  const rows = await db.rows<WorkerStatusRow & WorkerRecord>(sql`
    select name, ${statusColumns}, runtime, packages, resources, labels, runners, max_concurrent_executions
      from workers w join records using (name) where ${matching} order by name`)
  return rows.map((row) => ({ ...toRecord(row), ...toStatus(row) }))
}

const toRecord = (row: WorkerRecord) => ({
  name: row.name,
  runtime: row.runtime === undefined ? undefined : JSON.parse(row.runtime),
  resources: row.resources === undefined ? undefined : JSON.parse(row.resources),
  packages: JSON.parse(row.packages),
  labels: JSON.parse(row.labels),
  runners: JSON.parse(row.runners),
  max_concurrent_executions: row.max_concurrent_executions,
})

const toStatus = ({ healthy, connected, metrics, ...row }: WorkerStatusRow) => ({
  session_id: row.session_id,
  last_seen_at: row.last_seen_at,
  registered_at: row.registered_at,
  metrics: JSON.parse(metrics) as Worker['metrics'],
  status: statusOf({ connected, healthy }),
})

const toJson = (value: unknown): string | null =>
  value === undefined ? null : JSON.stringify(value)
