import { isTerminal } from '@windlass/domain/states'
import type { Queries } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import type { Execution } from '../domain/execution.ts'
import { listed } from './columns.ts'
import type { ExecutionFilter } from './totals.ts'

export interface Page extends ExecutionFilter {
  limit: number
  offset: number
}

/** One page, newest first. Only the filters in use are in the statement, so that the planner finds their index. */
export const list = (db: Queries, { limit, offset, ...filter }: Page) =>
  db.rows<Execution>(sql`
    select ${listed} from executions where true ${clauses(filter)}
     order by created_at desc, execution_id desc limit ${limit} offset ${offset}::bigint`)

function clauses({ state, workflow_namespace, workflow_name }: ExecutionFilter): Sql {
  const namespace = workflow_namespace ? sql`and workflow_namespace = ${workflow_namespace}` : sql``
  const name = workflow_name ? sql`and workflow_name = ${workflow_name}` : sql``
  return sql`${namespace} ${name} ${state ? inState(state) : sql``}`
}

const inState = (state: string) =>
  isTerminal(state)
    ? sql`and state = ${state} and finished_at is not null`
    : sql`and state = ${state} and finished_at is null`
