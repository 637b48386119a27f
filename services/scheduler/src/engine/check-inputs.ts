import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Tx } from '@windlass/runtime/postgres/db'
import { describeInputProblems } from '../domain/describe-input-problems.ts'
import * as schedules from '../store/schedules.ts'
import type { SchedulerDeps } from './deps.ts'

/** Location of the input in the requests that set it. */
const IN_REQUEST = ['body', 'input_data']

/** Throws `unprocessable` with the problems of an input that a caller gives a schedule. */
export const requireValidInput = (
  { inputSchemas }: SchedulerDeps,
  workflow: Workflow,
  input: string,
): void => inputSchemas.check(workflow, input, IN_REQUEST)

/** Describes why a version refuses an input; undefined if it accepts it. */
export const findInputProblem = (
  { inputSchemas }: SchedulerDeps,
  workflow: Workflow,
  input: string,
): string | undefined =>
  describeInputProblems(workflow.version, inputSchemas.findProblems(workflow, input))

/**
 * Records for each schedule of a workflow whether its latest version accepts the input. Locks all of them
 * in id order, so call it before locking any of them.
 */
export async function recheckInputs(deps: SchedulerDeps, tx: Tx, latest: Workflow): Promise<void> {
  for (const row of await schedules.lockInputs(tx, latest.namespace, latest.name)) {
    const problem = findInputProblem(deps, latest, row.input)
    if (problem === row.input_problem) continue
    await schedules.saveInputProblem(tx, row.id, problem)
    if (problem !== undefined)
      deps.log.warn({ schedule_id: row.id, reason: problem }, 'failed to validate schedule input')
  }
}
