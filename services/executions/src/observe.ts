import { cachedRead } from '@windlass/runtime/metrics/cached-read'
import { OVERFLOW } from '@windlass/runtime/metrics/label-values'
import type { Db } from '@windlass/runtime/postgres/db'
import type { LogPartitions } from './engine/log-partitions.ts'
import type { WaitingDispatchers } from './engine/waiters.ts'
import { logPartitions, queueAge, queueDepth, relayLag, waitingDispatchers } from './metrics.ts'
import * as store from './store/queue-metrics.ts'

/** Maximum number of requirements with a series of their own: those with the longest queues. */
const MAX_REQUIREMENTS = 50

/** Observes the ready queue and the relay while metrics are collected; answers `stop`. */
export function observeQueue(db: Db, waiters: WaitingDispatchers): () => void {
  const readQueue = cachedRead(async () => foldTail(await store.readQueueByRequirement(db)))
  const readLag = cachedRead(async () => (await store.readRelayLag(db))?.lag_s ?? 0)
  const stops = [
    queueDepth.observe(async (report) => {
      for (const { requirement_id, affinity, executions } of (await readQueue()) ?? [])
        report(executions, { requirement: requirement_id, affinity })
    }),
    queueAge.observe(async (report) => {
      for (const { requirement_id, oldest_s } of (await readQueue()) ?? [])
        report(oldest_s, { requirement: requirement_id })
    }),
    relayLag.observe(async (report) => {
      const lag = await readLag()
      if (lag !== undefined) report(lag)
    }),
    waitingDispatchers.observe((report) => report(waiters.size)),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Observes the partitions of the log; answers `stop`. */
export const observePartitions = (partitions: Pick<LogPartitions, 'count'>): (() => void) =>
  logPartitions.observe((report) => report(partitions.count))

/** Adds up the requirements beyond the limit; the age of the sum is that of the oldest entry. */
function foldTail(rows: store.QueuedByRequirement[]): store.QueuedByRequirement[] {
  const tail = rows.slice(MAX_REQUIREMENTS)
  if (tail.length === 0) return rows
  const rest = {
    requirement_id: OVERFLOW,
    affinity: OVERFLOW,
    executions: tail.reduce((sum, { executions }) => sum + executions, 0),
    oldest_s: Math.max(...tail.map(({ oldest_s }) => oldest_s)),
  }
  return [...rows.slice(0, MAX_REQUIREMENTS), rest]
}
