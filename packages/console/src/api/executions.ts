import type { AnswerAge } from './poll.ts'
import { type Query, read } from './server.ts'

/** A row of `GET /executions`. */
export interface ExecutionRow {
  execution_id: string
  workflow_namespace: string
  workflow_name: string
  state: string
  worker_name: string
  created_at: string
  updated_at: string
  /** Absent in the answer of a gateway of an earlier release, as are the others below. */
  finished_at?: string | null
  workflow_version?: number
  /** First line of the error. */
  error?: string | null
  created_by?: string
  /** Grows with every change. */
  revision?: number
}

export interface ExecutionPage {
  executions: ExecutionRow[]
  total: number
  /** False if there are more than `total`. */
  total_exact?: boolean
  /** True if the search ended at a bound before it had read all rows. */
  cut?: boolean
  limit: number
  offset: number
}

const MAX_KNOWN = 5_000
/** The rows of the last read, by id. */
const known = new Map<string, ExecutionRow>()

/**
 * Returns the object of the last answer for a row that has not changed, so that it is not rendered again.
 * Rows are compared by revision; rows of an earlier release have none and are compared as text.
 */
function keepSame(row: ExecutionRow): ExecutionRow {
  const last = known.get(row.execution_id)
  const isSame =
    last?.revision === undefined
      ? JSON.stringify(last) === JSON.stringify(row)
      : last.revision === row.revision
  if (last && isSame) return last
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(row.execution_id, row)
  return row
}

const readPage = async (path: string, query: Query, signal?: AbortSignal, age?: AnswerAge) => {
  const page = await read<ExecutionPage>(path, query, signal, age)
  return { ...page, executions: page.executions.map(keepSame) }
}

/** Returns the id of the execution of a row. */
export const idOf = ({ execution_id }: Pick<ExecutionRow, 'execution_id'>): string => execution_id

/** Reads a page of executions. */
export const listExecutions = (
  query: Query,
  signal?: AbortSignal,
  age?: AnswerAge,
): Promise<ExecutionPage> => readPage('/executions', query, signal, age)

/** Executions that a worker holds or was the last one to hold, newest first. */
export const listWorkerExecutions = (
  worker: string,
  query: Query,
  signal?: AbortSignal,
  age?: AnswerAge,
) => readPage(`/workers/${encodeURIComponent(worker)}/executions`, query, signal, age)
