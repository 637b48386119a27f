import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** While the execution is parked under this claim generation, the end of `wakes_on` wakes it. */
export interface StoredCondition {
  wakes_on: string
  execution_id: string
  claim_generation: number
}

/** Stores conditions; a later condition for the same two executions replaces the earlier one. */
export const save = (tx: Tx, conditions: readonly StoredCondition[]) =>
  tx.run(sql`
    insert into wake_conditions (wakes_on, execution_id, claim_generation)
    select * from ${asRows(conditions)}
     order by 1, 2
    on conflict (wakes_on, execution_id) do update
       set claim_generation = excluded.claim_generation`)

type ConditionKey = Pick<StoredCondition, 'wakes_on' | 'execution_id'>

const ZERO_ID = '00000000-0000-0000-0000-000000000000'
const FIRST: ConditionKey = { wakes_on: ZERO_ID, execution_id: ZERO_ID }

/** Reads a page of the conditions that the end of these executions meets. */
export const listOn = (
  db: Queries,
  ended: readonly string[],
  limit: number,
  { wakes_on, execution_id } = FIRST,
) =>
  db.rows<StoredCondition>(sql`
    select wakes_on, execution_id, claim_generation from wake_conditions
     where wakes_on = any(${ended}::uuid[])
       and (wakes_on, execution_id) > (${wakes_on}::uuid, ${execution_id}::uuid)
     order by wakes_on, execution_id limit ${limit}`)

/** Deletes conditions that have been acted on, unless a later one has replaced them. */
export const remove = (db: Queries, conditions: readonly StoredCondition[]) =>
  db.run(sql`
    delete from wake_conditions w using ${asRows(conditions)}
     where w.wakes_on = c.wakes_on and w.execution_id = c.execution_id
       and w.claim_generation <= c.claim_generation`)

const asRows = (conditions: readonly StoredCondition[]) => sql`
  unnest(${conditions.map(({ wakes_on }) => wakes_on)}::uuid[],
         ${conditions.map(({ execution_id }) => execution_id)}::uuid[],
         ${conditions.map(({ claim_generation }) => claim_generation)}::bigint[])
    as c(wakes_on, execution_id, claim_generation)`
