import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { QueuedWork } from '../domain/assign.ts'

/** Requirements with queued work, by a skip scan: a requirement may have many thousands of rows. */
export const listReadyRequirements = (db: Queries) =>
  db.rows<{ requirement_id: string; body: string }>(sql`
    with recursive ready as (
      (select requirement_id from executions where queued_at is not null
        order by requirement_id limit 1)
      union all
      select (select e.requirement_id from executions e
               where e.queued_at is not null and e.requirement_id > ready.requirement_id
               order by e.requirement_id limit 1)
        from ready where ready.requirement_id is not null)
    select requirement_id, body from ready join requirements using (requirement_id)`)

type QueuedRow = Pick<
  QueuedWork,
  'execution_id' | 'requirement_id' | 'preferred_worker' | 'passed_over'
> & { policy?: string; routing_inputs?: string }

/**
 * First entries of the queue for these requirements, without a lock: priority, then queue time. A resumed
 * execution has no policy here: it prefers the worker that paused it.
 */
export async function listQueued(
  db: Queries,
  requirement_ids: readonly string[],
  limit: number,
): Promise<QueuedWork[]> {
  const rows = await db.rows<QueuedRow>(sql`
    select execution_id, requirement_id, preferred_worker, passed_over, routing_inputs,
           case when state = 'SCHEDULED' then wanted.policy end as policy
      from (select requirement_id as id, body->>'routing_json' as policy from requirements
             where requirement_id = any(${requirement_ids}::uuid[])) as wanted
     cross join lateral (
       select execution_id, requirement_id, preferred_worker, passed_over, state, routing_inputs,
              priority, queued_at
         from executions
        where requirement_id = wanted.id and queued_at is not null
        order by priority desc, queued_at, execution_id limit ${limit}) as first
     order by priority desc, queued_at, execution_id limit ${limit}`)
  return rows.map(({ policy, routing_inputs, ...row }) => ({
    ...row,
    ...(policy && { policy: JSON.parse(policy) }),
    ...(routing_inputs && { routing_inputs: JSON.parse(routing_inputs) }),
  }))
}

/** Stores a requirement under its id; an existing one is equal. */
export const saveRequirement = (db: Queries, requirement_id: string, body: string) =>
  db.run(sql`
    insert into requirements (requirement_id, body) values (${requirement_id}, ${body}::json)
    on conflict do nothing`)

/** Number of executions that each worker holds; a worker without any is absent. */
export const loads = (db: Queries, worker_names: readonly string[]) =>
  db.rows<{ worker_name: string; used: number }>(loadsOf(worker_names))

export const loadsOf = (worker_names: readonly string[]) => sql`
  select held_by as worker_name, count(*)::int as used from executions
   where held_by = any(${worker_names}::text[]) group by held_by`

/**
 * Advisory locks of workers, held until the commit: no other transaction leases to them meanwhile, so
 * a count that follows stays true. Taken before any row lock, in the order of the names.
 */
export const lockWorkers = (tx: Tx, worker_names: readonly string[]) =>
  tx.rows(sql`
    select pg_advisory_xact_lock(hashtextextended(name, 7321))
      from (select name from unnest(${[...worker_names].sort()}::text[]) as name order by name) as w`)
