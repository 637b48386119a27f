import type { AnswerAge } from './poll.ts'
import { type Query, read } from './server.ts'
import { serverNow } from './server-clock.ts'

/** Seconds; null if nothing was measured. */
type Percentiles = { p50: number; p95: number; p99: number } | null

interface StatsBucket {
  /** Null unless groups were requested; empty for executions without a value. */
  group: string | null
  at: string
  started: number
  ended: number
  failed: number
  queue_wait: Percentiles
  run_time: Percentiles
}

/** The answer of `GET /executions/stats`; steps without an execution may be absent. */
export interface Stats {
  from: string
  to: string
  /** Seconds. */
  step: number
  buckets: StatsBucket[]
  cut: boolean
}

/** Milliseconds since 1970, and the step in seconds. */
interface Range {
  from: number
  to: number
  step: number
}

const queryOf = ({ from, to, step }: Range) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
  step: String(step),
})

/** Statistics of a time range, of all executions or of those of a workflow, in groups if requested. */
export const readStats = (
  range: Range,
  filter: Query = {},
  signal?: AbortSignal,
  age?: AnswerAge,
) => read<Stats>('/executions/stats', { ...queryOf(range), ...filter }, signal, age)

/** Statistics of the executions of one worker. */
export const readHistory = (worker: string, range: Range, signal?: AbortSignal, age?: AnswerAge) =>
  read<Stats>(`/workers/${encodeURIComponent(worker)}/history`, queryOf(range), signal, age)

/** Ends of ranges are whole multiples of this, so that open consoles ask the same. */
const ROUND_MS = 10_000

/**
 * The steps up to now. Their bounds do not move from one request to the next, so the server measures an earlier step once.
 */
export function recentSteps(seconds: number, step: number): Range {
  const { from, to } = recently(seconds, step)
  const stepMs = step * 1_000
  return { from: Math.floor(from / stepMs) * stepMs, to, step }
}

/** The time range up to now, or some seconds more. */
export function recently(seconds: number, step: number): Range {
  const to = Math.ceil(serverNow() / ROUND_MS) * ROUND_MS
  return { from: to - seconds * 1_000, to, step }
}
