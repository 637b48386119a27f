import type { Visibility } from '@windlass/domain/visibility'
import { readClock } from '@windlass/runtime/postgres/clock'
import type { Db } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { withReady } from './ready.ts'
import { isVisible } from './totals.ts'
import { workflowsIn } from './workflow-totals.ts'

export interface StatsFilter {
  visible: Visibility
  from: Date
  to: Date
  step_seconds: number
  /** Empty, `workflow`, `version`, `worker` or `error`. */
  group: string
  workflow_namespace: string
  workflow_name: string
  worker_name: string
}

export interface Bucket {
  group: string
  step: number
  count: number
}

export interface EndBucket extends Bucket {
  failed: number
  queue_wait: (number | null)[] | undefined
  run_time: (number | null)[] | undefined
}

const GROUPS: Record<string, Sql> = {
  workflow: sql`e.workflow_namespace || '/' || e.workflow_name`,
  version: sql`e.workflow_version::text`,
  worker: sql`coalesce(e.worker_name, '')`,
  error: sql`coalesce(e.error, '')`,
}

/** A float8: the numeric result of `extract` takes several times as long, and is converted to one by way of its text. */
const secondsBetween = (begin: Sql, end: Sql) => sql`date_part('epoch', ${end} - ${begin})`

const PERCENTILES = sql`percentile_cont(array[0.5, 0.95, 0.99])`

/** Executions that were created and that ended, by step and group. */
export interface Measured {
  created: Bucket[]
  ended: EndBucket[]
  /** Time of the database before the rows were read. */
  as_of: Date
}

/**
 * Counts the executions that were created, and measures those that ended, by step and group: at most `limit` of both
 * kinds.
 */
export async function measure(db: Db, filter: StatsFilter, limit: number): Promise<Measured> {
  const [workflows, as_of] = await Promise.all([workflowsIn(db, filter), readClock(db)])
  const rows = (time: Sql, columns: Sql) => sql`
    select ${GROUPS[filter.group] ?? sql`''`} as "group",
           floor(${secondsBetween(sql`${filter.from}::timestamptz`, time)}
                 / ${filter.step_seconds}::float8)::int as step, ${columns}
      from unnest(${workflows.map((row) => row.workflow_namespace)}::text[],
                  ${workflows.map((row) => row.workflow_name)}::text[]) as w(namespace, name),
      lateral (
        select * from executions e
         where e.workflow_namespace = w.namespace and e.workflow_name = w.name
           and ${time} >= ${filter.from} and ${time} < ${filter.to}
           ${filter.worker_name ? sql`and e.worker_name = ${filter.worker_name}` : sql``}) as e
     limit ${limit}`
  const [created, ended] = await Promise.all([
    db.rows<Bucket>(sql`
      select "group", step, count(*) as count
        from (${rows(sql`e.created_at`, sql`1 as one`)}) as e group by 1, 2`),
    db.rows<EndBucket>(sql`
      select "group", step, count(*) as count, count(*) filter (where state = 'FAILED') as failed,
             ${PERCENTILES} within group (order by wait) filter (where wait is not null) as queue_wait,
             ${PERCENTILES} within group (order by run) filter (where run is not null) as run_time
        from (${rows(
          sql`e.finished_at`,
          sql`e.state, ${secondsBetween(sql`e.created_at`, sql`e.started_at`)} as wait,
              ${secondsBetween(sql`e.started_at`, sql`e.finished_at`)} as run`,
        )}) as e group by 1, 2`),
  ])
  return { created, ended, as_of }
}

export interface QueueRow {
  requirement_id: string
  body: string
  depth: number
  oldest: Date
  created: number
  started: number
}

/** Queue entries beyond this number are not counted. */
export const MAX_DEPTH = 10_000
/** Maximum number of requirements in the answer. */
export const MAX_REQUIREMENTS = 100

/**
 * Queues of requirements with queued work that the caller may read; those with the oldest work come first.
 */
export const queueDepths = (db: Db, visible: Visibility) =>
  db.rows<QueueRow>(sql`
    ${withReady},
    recent as (
      select requirement_id, count(*) as created from executions
       where created_at >= now() - interval '1 minute' and ${isVisible(visible)} group by 1),
    begun as (
      select requirement_id, count(*) as started from executions
       where started_at >= now() - interval '1 minute' and ${isVisible(visible)}
         and (created_at >= now() - interval '10 minutes' or held_by is not null) group by 1)
    select requirement_id, body, queue.depth, queue.oldest,
           coalesce(created, 0) as created, coalesce(started, 0) as started
      from ready join requirements using (requirement_id)
      cross join lateral (
        select count(*) as depth, min(queued_at) as oldest from (
          select queued_at from executions
           where requirement_id = ready.requirement_id and queued_at is not null and ${isVisible(visible)}
           limit ${MAX_DEPTH + 1}) as some_queued) as queue
      left join recent using (requirement_id) left join begun using (requirement_id)
     where queue.depth > 0
     order by queue.oldest limit ${MAX_REQUIREMENTS + 1}`)
