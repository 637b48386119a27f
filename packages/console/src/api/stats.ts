import { read } from './server.ts'

/** Seconds; null if nothing was measured. */
type Percentiles = { p50: number; p95: number; p99: number } | null

interface StatsBucket {
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

/** Statistics of the time up to now. */
export function readStats(
  { seconds, step }: { seconds: number; step: number },
  signal?: AbortSignal,
): Promise<Stats> {
  const to = Date.now()
  const query = { from: new Date(to - seconds * 1_000).toISOString(), step: String(step) }
  return read<Stats>('/executions/stats', { ...query, to: new Date(to).toISOString() }, signal)
}
