import type { Visibility } from '@windlass/domain/visibility'
import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { isVisible } from './totals.ts'

interface Scope {
  visible: Visibility
  workflow_namespace: string
  workflow_name: string
}

interface KnownWorkflow {
  workflow_namespace: string
  workflow_name: string
}

export interface Totals extends KnownWorkflow {
  state: string
  total: number
}

/** Workflows with executions that match the filter and that the caller may read. */
export async function workflowsIn(db: Queries, request: Scope): Promise<KnownWorkflow[]> {
  return byWorkflow(inScope(await readTotals(db, request.visible), request))
}

export const inScope = (rows: readonly Totals[], filter: Scope) =>
  rows.filter(
    ({ workflow_namespace, workflow_name }) =>
      ['', workflow_namespace].includes(filter.workflow_namespace) &&
      ['', workflow_name].includes(filter.workflow_name),
  )

interface WorkflowTotal extends KnownWorkflow {
  total: number
}

/** Sums of all states. */
export function byWorkflow(rows: readonly Totals[]): WorkflowTotal[] {
  const sums = new Map<string, WorkflowTotal>()
  for (const { workflow_namespace, workflow_name, total } of rows) {
    const key = `${workflow_namespace}/${workflow_name}`
    const sum = (sums.get(key)?.total ?? 0) + total
    sums.set(key, { workflow_namespace, workflow_name, total: sum })
  }
  return [...sums.values()]
}

export const readTotals = (db: Queries, visible: Visibility) =>
  db.rows<Totals>(sql`
    select workflow_namespace, workflow_name, state, sum(n)::bigint as total from (
      select workflow_namespace, workflow_name, state, total as n from totals
       where ${isVisible(visible)}
      union all
      select workflow_namespace, workflow_name, state, delta as n from totals_delta
       where ${isVisible(visible)}) as known
     group by 1, 2, 3`)

export const sumOf = (rows: readonly Totals[]) => rows.reduce((total, row) => total + row.total, 0)
