import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { QueuedWork } from '../domain/assign.ts'

/** The requirements with queued work: a skip scan, since a requirement may have many thousands of rows. */
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

type Queued = Pick<
  QueuedWork,
  'execution_id' | 'requirement_id' | 'preferred_worker' | 'passed_over'
> & { policy?: string; routing_inputs?: string }

/** The first of the queue among these requirements, without a lock. What is resumed goes where it was, whatever its policy. */
export async function listQueued(
  db: Queries,
  requirement_ids: readonly string[],
  limit: number,
): Promise<QueuedWork[]> {
  const rows = await db.rows<Queued>(sql`
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

export const saveRequirement = (db: Queries, requirement_id: string, body: string) =>
  db.run(sql`
    insert into requirements (requirement_id, body) values (${requirement_id}, ${body}::json)
    on conflict do nothing`)

/** How much each worker holds. */
export const loads = (db: Queries, worker_names: readonly string[]) =>
  db.rows<{ worker_name: string; used: number }>(loadsOf(worker_names))

export const loadsOf = (worker_names: readonly string[]) => sql`
  select held_by as worker_name, count(*)::int as used from executions
   where held_by = any(${worker_names}::text[]) group by held_by`

/**
 * Keeps other flushes from giving work to the same workers until this one ends. Taken before any
 * row, in one order, so that the count that follows is true until the commit.
 */
export const lockWorkers = (tx: Tx, worker_names: readonly string[]) =>
  tx.rows(sql`
    select pg_advisory_xact_lock(hashtextextended(name, 7321))
      from (select name from unnest(${[...worker_names].sort()}::text[]) as name order by name) as w`)
