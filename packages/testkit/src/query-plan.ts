import type { Db } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'

export interface PlanNode {
  'Index Name'?: string
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

const flat = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(flat)]

/** Runs a query and returns the nodes of its plan, the outer ones first. */
export async function planOf(db: Db, query: Sql): Promise<PlanNode[]> {
  const [row] = await db.rows<Record<string, unknown>>(sql`explain (analyze, format json) ${query}`)
  const [found] = Object.values(row ?? {})
  const [{ Plan: plan }] = (typeof found === 'string' ? JSON.parse(found) : found) as [
    { Plan: PlanNode },
  ]
  return flat(plan)
}

/** Runs a query and returns the number of rows that it read from tables and indexes. */
export async function countRead(db: Db, query: Sql): Promise<number> {
  const scans = (await planOf(db, query)).filter((node) => node['Node Type'].endsWith('Scan'))
  const rowsOf = (node: PlanNode) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)
  return scans.reduce((sum, node) => sum + rowsOf(node) * node['Actual Loops'], 0)
}
