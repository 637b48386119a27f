import { isTerminal } from '@windlass/domain/states'
import type { Event } from '@windlass/proto/windlass/events/v1/events'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { summarizeFailure } from '../domain/failure-summary.ts'
import * as ticks from '../store/ticks.ts'
import type { SchedulerDeps } from './deps.ts'
import { findExecutions } from './find-executions.ts'

const BATCH = 50

/**
 * Records the result of a scheduled execution. The event only names the execution; the result is read
 * from executions, so a forged or outdated event changes nothing. Safe to repeat.
 */
export const onExecutionFinished = (deps: SchedulerDeps) => async (event: Event) => {
  if (event.body?.$case !== 'execution_finished' || !event.body.value.schedule_id) return
  const { execution_id } = event.body.value
  const execution = (await findExecutions(deps.executions, [execution_id])).get(execution_id)
  if (!execution || !isTerminal(execution.state)) return
  const ours = await saveFinished(deps, toFinished(execution))
  if (ours && (await ticks.wakeFirstQueued(deps.db, ours.schedule_id))) deps.wake()
}

/** Reads the results of unfinished executions whose check is due, in case their event was lost. */
export async function checkUnfinished(deps: SchedulerDeps): Promise<boolean> {
  const unfinished = await ticks.takeUnfinished(deps.db, BATCH)
  if (unfinished.length > 0)
    await recordStates(
      deps,
      unfinished.map(({ execution_id }) => execution_id),
    )
  return unfinished.length === BATCH
}

/** Reads and records the states of executions; returns those that are not terminal. */
export async function recordStates(
  deps: SchedulerDeps,
  execution_ids: string[],
): Promise<Map<string, Execution>> {
  const { db, executions } = deps
  const found = await findExecutions(executions, execution_ids)
  for (const execution of found.values()) {
    if (isTerminal(execution.state)) {
      await saveFinished(deps, toFinished(execution))
      found.delete(execution.execution_id)
    } else await ticks.saveState(db, execution.execution_id, execution.state)
  }
  return found
}

/** Stores a result and counts a failure. The schedule is locked before the tick, as everywhere. */
const saveFinished = ({ db }: SchedulerDeps, finished: ticks.FinishedExecution) =>
  finished.state === 'FAILED'
    ? db.tx(async (tx) => {
        await ticks.lockSchedule(tx, finished.execution_id)
        await ticks.countFailure(tx, finished.execution_id)
        return ticks.saveFinished(tx, finished)
      })
    : ticks.saveFinished(db, finished)

function toFinished({
  execution_id,
  state,
  updated_at,
  output_json,
}: Execution): ticks.FinishedExecution {
  const error = state === 'FAILED' && output_json ? summarizeFailure(output_json) : undefined
  return { execution_id, state, completed_at: updated_at ?? new Date(), error }
}
