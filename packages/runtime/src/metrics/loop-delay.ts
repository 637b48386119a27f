import { createHistogram, performance } from 'node:perf_hooks'

const BUSY_INTERVAL_MS = 100
const IDLE_INTERVAL_MS = 1_000
/** Fraction of time with an active event loop below which a process counts as idle. */
const IDLE_UTILIZATION = 0.05
const NS_PER_MS = 1e6

export interface LoopDelay {
  /** Returns the delay in ms that this fraction of the measurements since the last `reset` did not exceed. */
  quantile(part: number): number
  reset(): void
  stop(): void
}

/**
 * Measures how late timers are, ten times a second. Each measurement wakes the process, and the wake-ups of
 * `monitorEventLoopDelay` were most of those of an idle process; so it measures once a second while the
 * event loop is idle.
 */
export function measureLoopDelay(): LoopDelay {
  const histogram = createHistogram()
  let before = performance.eventLoopUtilization()
  let intervalMs = BUSY_INTERVAL_MS
  let dueMs = performance.now() + intervalMs
  const measure = () => {
    const lateMs = performance.now() - dueMs
    histogram.record(Math.max(1, Math.round(lateMs * NS_PER_MS)))
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    intervalMs = utilization < IDLE_UTILIZATION ? IDLE_INTERVAL_MS : BUSY_INTERVAL_MS
    dueMs = performance.now() + intervalMs
    timer = setTimeout(measure, intervalMs).unref()
  }
  let timer = setTimeout(measure, intervalMs).unref()
  return {
    quantile: (part) => (histogram.count === 0 ? 0 : histogram.percentile(part * 100) / NS_PER_MS),
    reset: () => histogram.reset(),
    stop: () => clearTimeout(timer),
  }
}
