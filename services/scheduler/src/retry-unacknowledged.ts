import type { SchedulerDeps } from './deps.ts'
import { retryDecision } from './domain/retry.ts'
import { LEASE_MS, submitUntil } from './lease.ts'
import { lookUp } from './look-up.ts'
import { startExecutions } from './start-executions.ts'
import * as ticks from './store/ticks.ts'
import { skippedOutcome, startedOutcome } from './tick-outcomes.ts'

const BATCH = 50

/** Goes on with firings that nobody settled: their replica died, a service was out of reach, or they wait for their turn. */
export async function retryUnacknowledged(parts: SchedulerDeps): Promise<boolean> {
  const until = submitUntil()
  const late = await ticks.takeUnacknowledged(parts.db, BATCH, LEASE_MS)
  const trying: ticks.Firing[] = []
  const lost: ticks.UnacknowledgedFiring[] = []
  const waiting: ticks.UnacknowledgedFiring[] = []
  const waitsMs: number[] = []
  for (const firing of late) {
    const verdict = decideRetry(firing, parts.catchupMs)
    if (verdict === 'try') trying.push({ ...firing, until })
    else if (verdict === 'give up') lost.push(firing)
    else {
      waiting.push(firing)
      waitsMs.push(verdict.waitMs)
    }
  }
  if (waiting.length > 0) await ticks.postpone(parts.db, waiting, waitsMs)
  if (lost.length > 0) await giveUp(parts, lost)
  await startExecutions(parts, trying)
  return late.length === BATCH
}

/** What waits for its turn is not late, however long it waits. */
function decideRetry({ paused, queued, age_ms }: ticks.UnacknowledgedFiring, catchupMs: number) {
  if (paused) return 'give up'
  return queued ? 'try' : retryDecision(age_ms, catchupMs)
}

/** What may not be started any more is skipped, unless an attempt that seemed to fail did start it. */
async function giveUp(
  { db, executions }: SchedulerDeps,
  lost: ticks.UnacknowledgedFiring[],
): Promise<void> {
  const found = await lookUp(
    executions,
    lost.map(({ execution_id }) => execution_id),
  )
  const outcomes = lost.map((firing) => {
    const execution = found.get(firing.execution_id)
    if (execution) return startedOutcome(firing, execution)
    return skippedOutcome(firing, firing.paused ? PAUSED : OUT_OF_REACH)
  })
  await db.tx((tx) => ticks.acknowledge(tx, outcomes))
}

const PAUSED = 'the schedule was paused before it could be started'
const OUT_OF_REACH = 'missed: it could not be started within the catch-up window'
