import type { Caller } from '@windlass/domain/caller'
import { isMadeBefore } from '@windlass/domain/revision'
import type { Precondition } from '@windlass/proto/windlass/access/v1/precondition'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import type {
  Schedule,
  UpdateIfRequest,
  UpdateRequest,
} from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { invalid, notFound } from '@windlass/runtime/faults'
import { readClock } from '@windlass/runtime/postgres/clock'
import type { Tx } from '@windlass/runtime/postgres/db'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import { firstTick, parseConfig } from '../domain/config.ts'
import { reconfigureLocked } from '../engine/change-locked.ts'
import { requireValidInput } from '../engine/check-inputs.ts'
import type { SchedulerDeps } from '../engine/deps.ts'
import { accountAfter, changedBy } from '../engine/owner.ts'
import * as schedules from '../store/schedules.ts'
import { NO_INPUT, resolveOverlap } from './create.ts'
import { revisionOfSchedule, toScheduleView } from './views.ts'

/** Locks a schedule, applies `change` and stores the returned row; the same row means no change. */
export async function updateLocked(
  { db, wake }: SchedulerDeps,
  ref: string,
  change: (tx: Tx, row: schedules.ScheduleRow) => Promise<schedules.ScheduleRow>,
): Promise<Schedule> {
  const view = await db.tx(async (tx) => {
    const row = await schedules.lock(tx, ref)
    if (!row) throw notFound('Schedule', ref)
    const after = await change(tx, row)
    const saved = after === row ? row : await schedules.save(tx, after)
    return toScheduleView(saved as schedules.ScheduleRow, await schedules.readInput(tx, row.id))
  })
  wake()
  return view
}

/** Latest version of the workflow of a schedule; undefined if the workflow was deleted. */
async function findWorkflow({ db, catalog }: SchedulerDeps, ref: string) {
  const row = await schedules.find(db, ref)
  if (!row) throw notFound('Schedule', ref)
  const { workflow_namespace: namespace, workflow_name: name } = row
  return await catalog.resolve({ namespace, name, version: 0 }).catch(undefinedIfNotFound)
}

/** Input of a changed schedule. Throws if the version refuses it. */
function resolveInput(deps: SchedulerDeps, version: Workflow | undefined, input_json = ''): string {
  const input = input_json || NO_INPUT
  if (version) requireValidInput(deps, version, input)
  return input
}

/**
 * Changes the given members and keeps the others and the history. A change of what runs, or when, by
 * a caller that may not name the account makes the schedule run as the caller (confused deputy).
 */
export async function updateSchedule(
  deps: SchedulerDeps,
  request: UpdateRequest,
  caller: Caller,
  precondition?: Precondition,
): Promise<Schedule> {
  const { schedule_config_json, description, input_json, run_as_service_account } = request
  const workflow = await findWorkflow(deps, request.ref)
  if (schedule_config_json !== undefined)
    firstTick(parseConfig(schedule_config_json), await readClock(deps.db))
  const overlap = resolveOverlap(request.overlap, schedule_config_json)
  const effective = [schedule_config_json, input_json, overlap]
  const isEffective = effective.some((member) => member !== undefined)
  const changes = [...effective, description, run_as_service_account]
  const by = { ...caller, may_name_accounts: request.may_name_accounts ?? false }
  const wantedOf = (row: schedules.ScheduleRow) => ({
    description: description ?? row.description,
    run_as_service_account: accountAfter(row, { isEffective, named: run_as_service_account, by }),
    overlap: overlap ?? row.overlap,
  })
  return await updateLocked(deps, request.ref, async (tx, row) => {
    const known = await schedules.readInput(tx, row.id)
    const wanted = wantedOf(row)
    const schedule_config = schedule_config_json ?? row.schedule_config
    const after = revisionOfSchedule({ ...wanted, schedule_config }, input_json ?? known)
    const before = revisionOfSchedule(row, known)
    if (isMadeBefore('schedule', precondition, { before, after })) return row
    if (changes.every((member) => member === undefined)) return row
    const input = resolveInput(deps, workflow, input_json ?? known)
    if (input !== known) await schedules.saveInput(tx, row.id, input)
    return {
      ...(await reconfigure(tx, row, schedule_config_json)),
      ...wanted,
      input_problem: workflow ? undefined : row.input_problem,
      ...changedBy(caller),
    }
  })
}

const reconfigure = async (tx: Tx, row: schedules.ScheduleRow, schedule_config?: string) =>
  schedule_config === undefined ? row : reconfigureLocked(tx, row, schedule_config)

/** Changes a schedule that meets the precondition of the request. */
export async function updateScheduleIf(
  deps: SchedulerDeps,
  { update, precondition }: UpdateIfRequest,
  caller: Caller,
): Promise<Schedule> {
  if (!update || !precondition) throw invalid('update and precondition are required')
  return await updateSchedule(deps, update, caller, precondition)
}
