import { writerBatch, writerCommits, writerDuration } from '../metrics.ts'
import type { ApplyStrategy } from './batch.ts'

/** Measures the batches of one path of the execution writer. */
export function measuredStrategy(
  path: 'create' | 'optimistic' | 'pessimistic',
  apply: ApplyStrategy,
): ApplyStrategy {
  const labels = { path }
  return async (commands) => {
    const begunMs = performance.now()
    writerBatch.record(commands.length, labels)
    const result = await apply(commands)
    writerDuration.record((performance.now() - begunMs) / 1_000, labels)
    if (result.committed.length > 0) writerCommits.add(1, labels)
    return result
  }
}
