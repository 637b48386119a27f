import { isTerminal } from '@windlass/domain/states'
import type { Event } from '@windlass/proto/windlass/events/v1/events'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { summarizeFailure } from '../domain/failure-summary.ts'
import * as ticks from '../store/ticks.ts'
import type { SchedulerDeps } from './deps.ts'
import { findExecutions } from './find-executions.ts'

const BATCH = 50

/**
 * A schedule learns how the execution it fired ended. The message only says where to look: how it
 * ended, the owner of executions says. Hearing it twice does no harm.
 */
export const onExecutionFinished = (deps: SchedulerDeps) => async (event: Event) => {
  if (event.body?.$case !== 'execution_finished' || !event.body.value.schedule_id) return
  const { execution_id } = event.body.value
  const execution = (await findExecutions(deps.executions, [execution_id])).get(execution_id)
  if (!execution || !isTerminal(execution.state)) return
  const ours = await ticks.saveFinished(deps.db, toFinished(execution))
  if (ours && (await ticks.wakeFirstQueued(deps.db, ours.schedule_id))) deps.wake()
}

/** Asks about executions that were not heard to finish, in case the event was lost. */
export async function checkUnfinished(deps: SchedulerDeps): Promise<boolean> {
  const silent = await ticks.takeUnfinished(deps.db, BATCH)
  if (silent.length > 0)
    await recordStates(
      deps,
      silent.map(({ execution_id }) => execution_id),
    )
  return silent.length === BATCH
}

/** Asks how executions are, and writes it down. Answers those that are not over. */
export async function recordStates(
  { db, executions }: SchedulerDeps,
  execution_ids: string[],
): Promise<Map<string, Execution>> {
  const found = await findExecutions(executions, execution_ids)
  for (const execution of found.values()) {
    if (isTerminal(execution.state)) {
      await ticks.saveFinished(db, toFinished(execution))
      found.delete(execution.execution_id)
    } else await ticks.saveState(db, execution.execution_id, execution.state)
  }
  return found
}

function toFinished({
  execution_id,
  state,
  updated_at,
  output_json,
}: Execution): ticks.FinishedExecution {
  const error = state === 'FAILED' && output_json ? summarizeFailure(output_json) : undefined
  return { execution_id, state, completed_at: updated_at ?? new Date(), error }
}
