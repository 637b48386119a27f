import { deliver } from './deliver.ts'
import { onRetry } from './domain/retry.ts'
import { LEASE_MS } from './fire.ts'
import { lookUp } from './look-up.ts'
import type { Parts } from './parts.ts'
import * as ticks from './store/ticks.ts'

const BATCH = 50

type Late = ticks.Firing & { age_ms: number }

/** Goes on with firings that nobody settled: their replica died, or a service was out of reach. */
export async function retry(parts: Parts): Promise<boolean> {
  const late = await ticks.takeUnacknowledged(parts.db, BATCH, LEASE_MS)
  const trying: Late[] = []
  const lost: Late[] = []
  const waiting: Late[] = []
  const waitsMs: number[] = []
  for (const firing of late) {
    const verdict = onRetry(firing.age_ms, parts.catchupMs)
    if (verdict === 'try') trying.push(firing)
    else if (verdict === 'give up') lost.push(firing)
    else {
      waiting.push(firing)
      waitsMs.push(verdict.waitMs)
    }
  }
  if (waiting.length > 0) await ticks.postpone(parts.db, waiting, waitsMs)
  if (lost.length > 0) await giveUp(parts, lost)
  await deliver(parts, trying)
  return late.length === BATCH
}

/** What is too old to be started is skipped, unless an attempt that seemed to fail did start it. */
async function giveUp({ db, executions }: Parts, lost: Late[]): Promise<void> {
  const found = await lookUp(
    executions,
    lost.map(({ execution_id }) => execution_id),
  )
  const outcomes = lost.map((firing): ticks.Outcome => {
    const execution = found.get(firing.execution_id)
    if (!execution) return { firing, status: 'skipped', error: OUT_OF_REACH, ...NOTHING }
    const { state, created_at, workflow_id } = execution
    const started_at = created_at ?? firing.nominal_at
    return { firing, status: 'started', workflow_id, state, started_at, error: undefined }
  })
  await db.tx((tx) => ticks.acknowledge(tx, outcomes))
}

const OUT_OF_REACH = 'missed: it could not be started within the catch-up window'
const NOTHING = { workflow_id: undefined, state: undefined, started_at: undefined }
