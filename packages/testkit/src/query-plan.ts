import type { Db, Queries, Tx } from '@windlass/runtime/postgres/db'
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

/** The statements that a function of a store would run; none is run, and each seems to find nothing. */
export async function statementsOf(run: (tx: Db & Tx) => Promise<unknown>): Promise<Sql[]> {
  const statements: Sql[] = []
  const recording: Queries = {
    async rows(statement) {
      statements.push(statement)
      return []
    },
    async maybe(statement) {
      statements.push(statement)
      return undefined
    },
    async run(statement) {
      statements.push(statement)
      return 0
    },
  }
  await run(recording as Db & Tx)
  return statements
}
