import type { SchedulerDeps } from '../engine/deps.ts'
import { checkUnfinished } from '../engine/execution-results.ts'
import { fire } from '../engine/fire.ts'
import { retryUnacknowledged } from '../engine/retry-unacknowledged.ts'
import { startExecutions } from '../engine/start-executions.ts'
import * as due from '../store/due.ts'
import * as ticks from '../store/ticks.ts'

const PURGE_BATCH = 5_000

/** Runs one batch of each kind of due work; returns the milliseconds until the next work is due. */
export async function runDueWork(deps: SchedulerDeps): Promise<number> {
  const summary = await due.readDueSummary(deps.db)
  if (!summary) return Number.POSITIVE_INFINITY
  const { fire_ms, retry_ms, check_ms, has_deleted } = summary
  const isDue = (ms: number | undefined) => ms !== undefined && ms <= 0

  if (isDue(fire_ms)) await startExecutions(deps, await fire(deps))
  if (isDue(retry_ms)) await retryUnacknowledged(deps)
  if (isDue(check_ms)) await checkUnfinished(deps)
  if (has_deleted) await deps.db.tx((tx) => ticks.purge(tx, PURGE_BATCH))

  if (has_deleted || [fire_ms, retry_ms, check_ms].some(isDue)) return 0
  return Math.min(...[fire_ms, retry_ms, check_ms].map((ms) => ms ?? Number.POSITIVE_INFINITY))
}
