import type { Visibility } from '@windlass/domain/visibility'
import type { Db, Queries, Tx } from '@windlass/runtime/postgres/db'
import { inScopes } from '@windlass/runtime/postgres/in-scopes'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'

export interface TotalsDelta {
  workflow_namespace: string
  workflow_name: string
  state: string
  delta: number
}

/** Only inserts, so that batches never wait for each other's totals. */
export const add = (tx: Tx, deltas: readonly TotalsDelta[]) =>
  tx.run(sql`
    insert into totals_delta (workflow_namespace, workflow_name, state, delta)
    select * from unnest(
      ${deltas.map((row) => row.workflow_namespace)}::text[],
      ${deltas.map((row) => row.workflow_name)}::text[],
      ${deltas.map((row) => row.state)}::text[], ${deltas.map((row) => row.delta)}::int[])`)

const BATCH = 5_000

/** Folds one batch of deltas into the totals. Resolves to true if there are more. */
export const fold = (db: Db) =>
  db.tx(async (tx) => {
    const folded = await tx.maybe<{ count: number }>(sql`
      with deleted as (
        delete from totals_delta where ctid = any(array(
          select ctid from totals_delta limit ${BATCH} for update skip locked))
        returning *),
      sums as (
        select workflow_namespace, workflow_name, state, sum(delta) as delta
          from deleted group by 1, 2, 3 order by 1, 2, 3),
      added as (
        insert into totals as t (workflow_namespace, workflow_name, state, total)
        select * from sums
        on conflict (workflow_namespace, workflow_name, state)
        do update set total = t.total + excluded.total)
      select count(*) as count from deleted`)
    return (folded?.count ?? 0) === BATCH
  })

export interface ExecutionFilter {
  state: string
  workflow_namespace: string
  workflow_name: string
  visible: Visibility
}

/** Condition for rows of visible workflows; in a list, executions are never visible by their ids. */
export const isVisible = (visible: Visibility): Sql =>
  visible.kind === 'all' ? sql`true` : inScopes(visible.workflows)

/** Counts matching executions, as a sum over the few rows of totals and of unfolded deltas. */
export async function count(db: Queries, filter: ExecutionFilter): Promise<number> {
  const { state, ...rest } = filter
  return countStates(db, { ...rest, states: state === '' ? [] : [state] })
}

/** The same for any of several states; for all states if none is given. */
export async function countStates(
  db: Queries,
  {
    states,
    workflow_namespace,
    workflow_name,
    visible,
  }: Omit<ExecutionFilter, 'state'> & { states: readonly string[] },
): Promise<number> {
  const matching = sql`
     where ${isVisible(visible)}
       and (${states.length}::int = 0 or state = any(${states}::text[]))
       and (${workflow_namespace} = '' or workflow_namespace = ${workflow_namespace})
       and (${workflow_name} = '' or workflow_name = ${workflow_name})`
  const row = await db.maybe<{ total: number }>(sql`
    select (coalesce((select sum(total) from totals ${matching}), 0)
          + coalesce((select sum(delta) from totals_delta ${matching}), 0))::bigint as total`)
  return row?.total ?? 0
}
