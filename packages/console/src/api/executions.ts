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
}

export interface ExecutionPage {
  executions: ExecutionRow[]
  total: number
  limit: number
  offset: number
}

export const listExecutions = (query: Query, signal?: AbortSignal): Promise<ExecutionPage> =>
  read('/executions', query, signal)
