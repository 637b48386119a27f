import type { Command } from '@windlass/proto/windlass/executions/v1/executions'
import { decideOverlap, REPLACED, type UnfinishedTick } from '../domain/overlap.ts'
import * as ticks from '../store/ticks.ts'
import type { SchedulerDeps } from './deps.ts'
import { recordStates } from './execution-results.ts'
import { queuedOutcome, skippedOutcome } from './tick-outcomes.ts'

const CANCEL_MS = 4_000
const LOOK_UP_BATCH = 50

/**
 * Applies the overlap policy of each firing to the unfinished ticks before it. Returns the outcomes of
 * firings that may not start now; the others may. The states of earlier executions are read from
 * executions, because the stored ones may be outdated. Throws if they cannot be read.
 */
export async function applyOverlapPolicy(
  deps: SchedulerDeps,
  firings: ticks.Firing[],
): Promise<ticks.Outcome[]> {
  const restricted = firings.filter(({ overlap }) => overlap !== 'allow')
  if (restricted.length === 0) return []
  const open = await filterUnfinished(deps, await ticks.listUnfinishedBefore(deps.db, restricted))
  const outcomes: ticks.Outcome[] = []
  for (const firing of restricted) {
    const before = open.filter(
      ({ schedule_id, later_at }) =>
        schedule_id === firing.schedule_id && +later_at === +firing.nominal_at,
    )
    const decision = decideOverlap(firing.overlap, before)
    if (decision.action === 'start') continue
    if (decision.action === 'skip') {
      outcomes.push(skippedOutcome(firing, decision.reason))
      continue
    }
    if (decision.cancel.length > 0) await cancel(deps, decision.cancel)
    const { schedule_id } = firing
    const replaced = decision.replace.map(({ nominal_at }) => ({ schedule_id, nominal_at }))
    const skipped = replaced.map((tick) => ({
      ...skippedOutcome(tick, REPLACED),
      unless_submitted: true,
    }))
    outcomes.push(...skipped, queuedOutcome(firing))
  }
  return outcomes
}

type UnfinishedTicks = Awaited<ReturnType<typeof ticks.listUnfinishedBefore>>

async function filterUnfinished(
  deps: SchedulerDeps,
  open: UnfinishedTicks,
): Promise<UnfinishedTicks> {
  const started = open.filter(({ status }) => status === 'started')
  const ids = [...new Set(started.map(({ execution_id }) => execution_id))]
  const running = new Map<string, string>()
  for (let i = 0; i < ids.length; i += LOOK_UP_BATCH)
    for (const { execution_id, state } of (
      await recordStates(deps, ids.slice(i, i + LOOK_UP_BATCH))
    ).values())
      running.set(execution_id, state)
  return open
    .filter(({ status, execution_id }) => status !== 'started' || running.has(execution_id))
    .map((tick) => ({ ...tick, state: running.get(tick.execution_id) }))
}

/**
 * Repeated at each check of the queued tick, so a failed call needs no retry. A terminal execution refuses
 * the cancel.
 */
async function cancel({ executions, log }: SchedulerDeps, running: UnfinishedTick[]) {
  const commands = running.map(
    ({ execution_id }): Command => ({
      execution_id,
      with_log: false,
      body: { $case: 'cancel', value: {} },
    }),
  )
  await executions.submit({ commands }, { timeoutMs: CANCEL_MS }).catch((error: unknown) => {
    log.warn({ err: error, commands: commands.length }, 'failed to cancel earlier executions')
  })
}
