import { isTerminal } from '@windlass/domain/states'
import type { Queries } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import type { Execution } from '../domain/execution.ts'
import { listed } from './columns.ts'
import { type ExecutionFilter, isVisible } from './totals.ts'

export interface Page extends ExecutionFilter {
  limit: number
  offset: number
}

/**
 * Reads one page, newest first. The statement contains only the filters in use, so that the planner finds
 * their index.
 */
export const list = (db: Queries, page: Page) =>
  page.visible.kind === 'all' ? listAll(db, page) : listVisible(db, page)

const listAll = (db: Queries, { limit, offset, ...filter }: Page) =>
  db.rows<Execution>(sql`
    select ${listed} from executions where true ${clauses(filter)}
     order by created_at desc, execution_id desc limit ${limit} offset ${offset}::bigint`)

/**
 * Reads the page of a caller that may see some workflows. The newest rows of each workflow are read by
 * their index, so that the cost does not grow with the executions of other workflows.
 */
const listVisible = (db: Queries, { limit, offset, ...filter }: Page) =>
  db.rows<Execution>(sql`
    with scope as (
      select workflow_namespace, workflow_name from (
        select workflow_namespace, workflow_name from totals
        union select workflow_namespace, workflow_name from totals_delta) as known
       where ${isVisible(filter.visible)})
    select newest.* from scope, lateral (
      select ${listed} from executions
       where executions.workflow_namespace = scope.workflow_namespace
         and executions.workflow_name = scope.workflow_name ${clauses(filter)}
       order by created_at desc, execution_id desc limit ${limit + offset}::bigint) as newest
     order by created_at desc, execution_id desc limit ${limit} offset ${offset}::bigint`)

function clauses({ state, workflow_namespace, workflow_name }: ExecutionFilter): Sql {
  const namespace = workflow_namespace
    ? sql`and executions.workflow_namespace = ${workflow_namespace}`
    : sql``
  const name = workflow_name ? sql`and executions.workflow_name = ${workflow_name}` : sql``
  return sql`${namespace} ${name} ${state ? inState(state) : sql``}`
}

const inState = (state: string) =>
  isTerminal(state)
    ? sql`and state = ${state} and finished_at is not null`
    : sql`and state = ${state} and finished_at is null`
