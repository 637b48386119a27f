import type { Visibility } from '@windlass/domain/visibility'
import type { Db } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { type ListedRow, listedColumns } from './search.ts'
import { matches, type SearchFilter } from './search-filter.ts'
import { candidatesOf } from './search-plan.ts'
import { isVisible } from './totals.ts'

/*
 * Changed executions, for readers that follow a list. A reader must learn of an execution that matches its
 * filter, and of one that no longer does: it is still in the list. So the filter is split. Its constant
 * part, such as the workflow, selects the executions that a reader learns of; whether the rest matches is
 * answered for each of them.
 *
 * Executions are found by id, which signals name, or by the time of their change, for a reader that was
 * away and as the fallback for lost signals. No index has the time of the change, and one would cost every
 * write. Live executions are few, and ended ones changed last when they ended.
 */
export interface ChangesRequest {
  filter: SearchFilter
  visible: Visibility
  ids: readonly string[]
  since?: Date | undefined
  limit: number
}

export interface Change extends ListedRow {
  matches: boolean
}

export interface Changes {
  rows: Change[]
  total: number
  cut: boolean
  as_of: Date
}

/** Maximum number of live executions that are read by time of change, and of ended ones of each workflow. */
const MAX_LIVE = 10_000
const MAX_ENDED = 1_000

interface FoundChange extends Partial<Change> {
  as_of: Date
  total?: number
  cut?: boolean
}

/** Lists changed executions: matching ones first, and among these the most recently changed. */
export async function listChanges(db: Db, request: ChangesRequest): Promise<Changes> {
  const { filter, visible, since, limit } = request
  const constant = constantPartOf(filter)
  const rows = await db.rows<FoundChange>(sql`
    with found as materialized (${await candidates(db, request, constant)}),
    changed as (
      select e.execution_id, e.updated_at as changed_at, (${matches(filter)}) is true as matches
        from found join executions e using (execution_id)
       where ${isVisible(visible)} and ${matches(constant)}
         ${since ? sql`and e.updated_at >= ${since}` : sql``}),
    picked as (
      select * from changed order by matches desc, changed_at desc, execution_id limit ${limit})
    select now() as as_of, (select count(*) from changed) as total,
           (select coalesce(bool_or(is_last), false) from found) as cut,
           picked.matches, ${listedColumns}
      from (select 1) as one left join (picked join executions e using (execution_id)) on true
     order by picked.matches desc, picked.changed_at desc, e.execution_id`)
  const [first] = rows
  if (!first) throw new Error('no row with the time of the database')
  const changes = rows.filter((row): row is FoundChange & Change => row.execution_id !== undefined)
  const { as_of, total = 0, cut = false } = first
  return { rows: changes, total, cut, as_of }
}

/** The filters whose result never changes for an execution. */
const constantPartOf = (filter: SearchFilter): SearchFilter => ({
  ...filter,
  ...{ states: [], worker_name: '', error: '', min_duration: undefined, max_duration: undefined },
  ...{ finished_after: undefined, finished_before: undefined },
  payload: filter.payload?.output ? undefined : filter.payload,
})

/** Selects `execution_id`, and `is_last`: true for a row after which there may be more. */
async function candidates(
  db: Db,
  { visible, ids, since }: ChangesRequest,
  constant: SearchFilter,
): Promise<Sql> {
  if (ids.length > 0 || !since)
    return sql`select unnest(${ids}::uuid[]) as execution_id, false as is_last`
  const ended = await candidatesOf(db, {
    ...{ ...constant, visible, by_finish: true, finished_after: since },
  })
  const live = sql`
    select e.execution_id from executions e where e.finished_at is null and ${isVisible(visible)}
     order by e.created_at desc, e.execution_id desc limit ${MAX_LIVE}`
  const limits = ended.sizes.map(() => MAX_ENDED)
  const newest = ended.from(sql`e.execution_id`, sql`order by e.finished_at desc`, limits)
  return sql`
    select execution_id, n = ${MAX_LIVE} as is_last
      from (select execution_id, row_number() over () as n from (${live}) as live) as numbered
    union all
    select execution_id, n = ${MAX_ENDED} as is_last
      from (select execution_id, row_number() over (partition by range) as n
              from (${newest}) as ended) as numbered`
}
