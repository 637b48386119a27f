import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import type { QueuedWork } from '../domain/assign.ts'
import { HANDED_OVER } from '../domain/hand-over.ts'

/**
 * Part `ready` of a statement: ids of requirements with queued work, and a null. A skip scan, because each
 * requirement may have many thousands of rows.
 */
export const withReady = sql`
    with recursive ready as (
      (select requirement_id from executions where queued_at is not null
        order by requirement_id limit 1)
      union all
      select (select e.requirement_id from executions e
               where e.queued_at is not null and e.requirement_id > ready.requirement_id
               order by e.requirement_id limit 1)
        from ready where ready.requirement_id is not null)`

/** Reads the requirements that have work for a worker: in the queue, or handed over. */
export const listReadyRequirements = (db: Queries) =>
  db.rows<{ requirement_id: string; body: string }>(sql`
    ${withReady}
    select requirement_id, body
      from (select requirement_id from ready
             union select requirement_id from executions where held_by = ${HANDED_OVER}) as wanted
      join requirements using (requirement_id)`)

/** Reads cancelled executions of these requirements that wait for another worker, by deadline. */
export const listHandedOver = (db: Queries, { requirement_ids, limit }: QueueLookup) =>
  db.rows<QueuedEntry>(sql`
    select execution_id, requirement_id, workflow_namespace, passed_over from executions
     where held_by = ${HANDED_OVER} and requirement_id = any(${requirement_ids}::uuid[])
     order by deadline_at, execution_id limit ${limit}`)

/** An entry of the queue. */
export interface QueuedEntry extends QueuedWork {
  workflow_namespace: string
}

interface QueuedRow extends Omit<QueuedEntry, 'policy' | 'routing_inputs'> {
  policy?: string
  routing_inputs?: string
}

/**
 * Order of the executions `e` of one requirement and namespace: a level is worth ten seconds of waiting.
 * The expression is that of the index `executions_ready_by_namespace`.
 */
export const queueKey = sql`((e.queued_at at time zone 'UTC') - e.priority * interval '10 seconds')`

/**
 * Namespaces with queued work of these requirements, by a skip scan; also ordered by the key, so that the
 * index is used.
 */
export const queuedNamespaces = (requirement_ids: Sql): Sql => sql`
    select requirement_id, (
             select e.workflow_namespace from executions e
              where e.requirement_id = wanted.requirement_id and e.queued_at is not null
              order by e.workflow_namespace, ${queueKey} limit 1) as workflow_namespace
      from unnest(${requirement_ids}) as wanted(requirement_id)
     union all
    select requirement_id, (
             select e.workflow_namespace from executions e
              where e.requirement_id = namespaces.requirement_id and e.queued_at is not null
                and e.workflow_namespace > namespaces.workflow_namespace
              order by e.workflow_namespace, ${queueKey} limit 1)
      from namespaces where workflow_namespace is not null`

/** The current level of an execution; it has no upper limit. */
const level = sql`floor(extract(epoch from (now() at time zone 'UTC') - key) / 10)`

/** Reads the first entries of the queue for these requirements, without a lock. */
export async function listQueued(db: Queries, lookup: QueueLookup): Promise<QueuedEntry[]> {
  const rows = await db.rows<QueuedRow>(queuedEntries(lookup))
  return rows.map(({ policy, routing_inputs, ...row }) => ({
    ...row,
    ...(policy && { policy: JSON.parse(policy) }),
    ...(routing_inputs && { routing_inputs: JSON.parse(routing_inputs) }),
  }))
}

export interface QueueLookup {
  requirement_ids: readonly string[]
  limit: number
  /** Namespaces in the order of their last turn; others come first. */
  served?: readonly string[]
}

/**
 * Reads entries by level, and within a level the namespaces in turn. A resumed execution has no policy
 * here, because it prefers the worker that paused it. Each namespace is read from its first entry to at
 * most `limit` of them, and at most `limit` namespaces are read: the first entry of any other namespace
 * comes after those of all that are read.
 */
export function queuedEntries({ requirement_ids, limit, served = [] }: QueueLookup): Sql {
  const turn = sql`coalesce(array_position(${served}::text[], workflow_namespace), 0)`
  return sql`
    with recursive namespaces as (${queuedNamespaces(sql`${requirement_ids}::uuid[]`)}),
    heads as materialized (
      select requirement_id, workflow_namespace
        from namespaces
       cross join lateral (
         select ${queueKey} as key from executions e
          where e.requirement_id = namespaces.requirement_id and e.queued_at is not null
            and e.workflow_namespace = namespaces.workflow_namespace
          order by ${queueKey}, e.execution_id limit 1) as head
       where workflow_namespace is not null
       order by ${level} desc, ${turn}, key limit ${limit}),
    candidates as (
      select first.*, row_number() over (
               partition by first.workflow_namespace, ${level} order by key, execution_id) as round
        from heads
       cross join lateral (
         select e.execution_id, e.requirement_id, e.workflow_namespace, e.preferred_worker,
                e.passed_over, e.state, e.routing_inputs, ${queueKey} as key
           from executions e
          where e.requirement_id = heads.requirement_id and e.queued_at is not null
            and e.workflow_namespace = heads.workflow_namespace
          order by ${queueKey}, e.execution_id limit ${limit}) as first),
    chosen as (
      select *, row_number() over (order by ${level} desc, round, ${turn}, key, execution_id) as rank
        from candidates order by rank limit ${limit})
    select execution_id, requirement_id, workflow_namespace, preferred_worker, passed_over,
           routing_inputs, case when state = 'SCHEDULED' then body->>'routing_json' end as policy
      from chosen join requirements using (requirement_id) order by rank`
}

/** Stores a requirement under its id; an existing one is equal. */
export const saveRequirement = (db: Queries, requirement_id: string, body: string) =>
  db.run(sql`
    insert into requirements (requirement_id, body) values (${requirement_id}, ${body}::json)
    on conflict do nothing`)

/** Reads the number of executions that each worker holds; a worker without any is absent. */
export const loads = (db: Queries, worker_names: readonly string[]) =>
  db.rows<{ worker_name: string; used: number }>(loadsOf(worker_names))

const loadsOf = (worker_names: readonly string[]) => sql`
  select held_by as worker_name, count(*)::int as used from executions
   where held_by = any(${worker_names}::text[]) group by held_by`

/**
 * The same, preceded by the locks of `lockWorkers`, as the part `held` of one statement. Without `begin`
 * and `commit` around it, the statement takes one message in each direction.
 */
export const loadsUnderLock = (worker_names: readonly string[]) => sql`
  select worker_name, used from loads_under_lock(${worker_names}::text[])`

/**
 * Condition without columns, which PostgreSQL evaluates before it reads the first row: workers are locked
 * before rows.
 */
export const isLocked = sql`(select count(*) from held) is not null`

/**
 * Takes the advisory locks of workers, held until the commit: no other transaction leases to them in the
 * meantime, so a count that follows stays true. They are taken before any row lock, in the order of the
 * names.
 */
export const lockWorkers = (tx: Tx, worker_names: readonly string[]) =>
  tx.rows(sql`
    select pg_advisory_xact_lock(hashtextextended(name, 7321))
      from (select name from unnest(${[...worker_names].sort()}::text[]) as name order by name) as w`)
