import type { ExecutionPage } from '../api/executions.ts'
import type { QueueRow } from '../api/queue.ts'
import { count, millis } from '../format/time.ts'

const HOUR_MS = 3_600_000

export type Total = Pick<ExecutionPage, 'total' | 'total_exact'>

/** Begins of the last hour are whole multiples of this, so that open consoles ask the same. */
const ROUND_MS = 10_000

/** Filter of the executions that failed in the last hour, or some seconds more. */
export const failedLately = (now: number) => ({
  state: 'FAILED',
  finished_after: new Date(Math.floor((now - HOUR_MS) / ROUND_MS) * ROUND_MS).toISOString(),
})

/** A number in words: one that is not exact says so. */
export const totalText = ({ total, total_exact = true }: Total): string =>
  `${total_exact ? '' : 'more than '}${count(total)}`

/** All that waits for a worker: how many, and since when the oldest, in milliseconds since 1970. */
export function waitingOf(queues: readonly QueueRow[]): Total & { oldest: number | undefined } {
  const oldest = queues.flatMap((queue) => millis(queue.oldest) ?? [])
  return {
    total: queues.reduce((sum, { depth }) => sum + depth, 0),
    total_exact: queues.every(({ depth_exact }) => depth_exact),
    oldest: oldest.length === 0 ? undefined : Math.min(...oldest),
  }
}
