import type { RegisterRequest, Worker } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { statusOf } from '../domain/presence.ts'
import { hasLiveStream } from './workers.ts'

/** Columns of `workers`: the state that the service maintains. */
interface WorkerStatusRow {
  session_id: string
  healthy: boolean
  connected: boolean
  metrics: string
  last_seen_at: Date
  registered_at: Date
}

/** Row of `records`: what the worker registered. JSON columns as text. */
interface WorkerRecord {
  name: string
  runtime?: string
  packages: string
  resources?: string
  labels: string
  runners: string
  namespaces?: string
  max_concurrent_executions: number
}

const statusColumns = sql`session_id, healthy, ${hasLiveStream} as connected, metrics, last_seen_at, registered_at`

/** Hours for which a disconnected worker stays on the list; by name it is found without limit. */
const LISTED_HOURS = 2

const listedSince = sql`now() - make_interval(hours => ${LISTED_HOURS})`

/**
 * SQL condition on a row `w` of `workers`: connected, or disconnected recently. No index has the last sign of life,
 * because pongs change it. The eviction is later than that, so its index leaves out names that left long ago.
 */
export const isListed = sql`(w.evicted_at is null or w.evicted_at > ${listedSince})
  and (w.connected or w.last_seen_at > ${listedSince})`

/** Members of a registration that are not stored in the record. */
type Terms = Pick<
  RegisterRequest,
  'namespaces' | 'claims_by_delivery' | 'keeps_workflows' | 'continues_cancelled'
>

/** Stores the record; returns the worker as stored. */
export async function save(
  tx: Tx,
  worker: Worker,
  {
    namespaces,
    claims_by_delivery = false,
    keeps_workflows = false,
    continues_cancelled = false,
  }: Terms,
): Promise<Worker> {
  const { name, runtime, packages, resources, labels, runners } = worker
  await tx.run(sql`
    insert into records (name, runtime, packages, resources, labels, runners, namespaces,
                         max_concurrent_executions, claims_by_delivery, keeps_workflows,
                         continues_cancelled)
    values (${name}, ${toJson(runtime)}, ${toJson(packages)}, ${toJson(resources)}, ${toJson(labels)},
            ${toJson(runners)}, ${toJson(namespaces?.names)}, ${worker.max_concurrent_executions},
            ${claims_by_delivery}, ${keeps_workflows}, ${continues_cancelled})
    on conflict (name) do update
       set runtime = excluded.runtime, packages = excluded.packages, resources = excluded.resources,
           labels = excluded.labels, runners = excluded.runners,
           namespaces = excluded.namespaces,
           max_concurrent_executions = excluded.max_concurrent_executions,
           claims_by_delivery = excluded.claims_by_delivery,
           keeps_workflows = excluded.keeps_workflows,
           continues_cancelled = excluded.continues_cancelled`)
  const row = await tx.maybe<WorkerStatusRow>(sql`
    select ${statusColumns} from workers w where name = ${name}`)
  return row ? { ...worker, ...toStatus(row) } : worker
}

export async function find(db: Queries, name: string): Promise<Worker | undefined> {
  const [worker] = await readWorkers(db, sql`w.name = ${name}`)
  return worker
}

/** Lists connected and recently disconnected workers by name. */
export async function list(db: Queries, status: string): Promise<Worker[]> {
  const workers = await readWorkers(db, isListed)
  return status === '' ? workers : workers.filter((worker) => worker.status === status)
}

async function readWorkers(db: Queries, matching: Sql): Promise<Worker[]> {
  const rows = await db.rows<WorkerStatusRow & WorkerRecord>(sql`
    select name, ${statusColumns}, runtime, packages, resources, labels, runners, namespaces,
           max_concurrent_executions
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
  namespaces: row.namespaces === undefined ? undefined : { names: JSON.parse(row.namespaces) },
  max_concurrent_executions: row.max_concurrent_executions,
})

const toStatus = ({ healthy, connected, metrics, ...row }: WorkerStatusRow) => ({
  session_id: row.session_id,
  last_seen_at: row.last_seen_at,
  registered_at: row.registered_at,
  metrics: JSON.parse(metrics) as Worker['metrics'],
  status: statusOf({ connected, healthy }),
})

const toJson = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
