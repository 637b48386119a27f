import type { SchedulerDeps } from '../deps.ts'
import { checkUnfinished } from '../execution-results.ts'
import { fire } from '../fire.ts'
import { retryUnacknowledged } from '../retry-unacknowledged.ts'
import { startExecutions } from '../start-executions.ts'
import * as due from '../store/due.ts'
import * as ticks from '../store/ticks.ts'

const PURGE_BATCH = 5_000

/** Does whatever is due, one batch of each kind, and answers in how many milliseconds there is more to do. */
export async function runDueWork(parts: SchedulerDeps): Promise<number> {
  const seen = await due.readDueSummary(parts.db)
  if (!seen) return Number.POSITIVE_INFINITY
  const { fire_ms, retry_ms, check_ms, purge } = seen
  const isDue = (ms: number | undefined) => ms !== undefined && ms <= 0

  if (isDue(fire_ms)) await startExecutions(parts, await fire(parts))
  if (isDue(retry_ms)) await retryUnacknowledged(parts)
  if (isDue(check_ms)) await checkUnfinished(parts)
  if (purge) await parts.db.tx((tx) => ticks.purge(tx, PURGE_BATCH))

  if (purge || [fire_ms, retry_ms, check_ms].some(isDue)) return 0
  return Math.min(...[fire_ms, retry_ms, check_ms].map((ms) => ms ?? Number.POSITIVE_INFINITY))
}
