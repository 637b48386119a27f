import { type Query, read } from './server.ts'

export const LEVELS = ['debug', 'info', 'warning', 'error', 'critical'] as const

/** A line that the code of an execution wrote. */
export interface CapturedLine {
  /** Position among the lines of the execution. */
  seq: number
  /** Empty for the body of the workflow. */
  task_id: string
  task_name: string
  level: string
  logger: string
  message: string
  time: string
}

interface LinePage {
  lines: CapturedLine[]
  /** True if there are later lines. */
  more: boolean
}

export const MAX_PAGE = 1_000

/** Lines of an execution after a position, the oldest first. */
export const readLines = (id: string, query: Query, signal?: AbortSignal) =>
  read<LinePage>(
    `/executions/${encodeURIComponent(id)}/logs`,
    { ...query, limit: String(MAX_PAGE) },
    signal,
  )
