import { cachedRead } from '@windlass/runtime/metrics/cached-read'
import type { Db } from '@windlass/runtime/postgres/db'
import { scheduleOverdue } from './metrics.ts'
import { readDueSummary } from './store/due.ts'

/** Observes due ticks while metrics are collected; answers `stop`. */
export function observeSchedules(db: Db): () => void {
  const read = cachedRead(() => readDueSummary(db))
  return scheduleOverdue.observe(async (report) => {
    const due = await read()
    if (due) report(Math.max(0, -(due.fire_ms ?? 0) / 1_000))
  })
}
