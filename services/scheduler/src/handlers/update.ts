import type { Caller } from '@windlass/domain/caller'
import type { Schedule, UpdateRequest } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { notFound } from '@windlass/runtime/faults'
import type { Tx } from '@windlass/runtime/postgres/db'
import { firstTick, parseConfig } from '../domain/config.ts'
import { reconfigureLocked } from '../engine/change-locked.ts'
import type { SchedulerDeps } from '../engine/deps.ts'
import * as schedules from '../store/schedules.ts'
import { resolveOverlap } from './create.ts'
import { toScheduleView } from './views.ts'

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

/** Changes the given members and keeps the others and the history. */
export async function updateSchedule(
  deps: SchedulerDeps,
  request: UpdateRequest,
  { subject, issuer }: Caller,
): Promise<Schedule> {
  const { schedule_config_json, description, input_json, run_as_service_account } = request
  if (schedule_config_json !== undefined)
    firstTick(parseConfig(schedule_config_json), await schedules.readClock(deps.db))
  const overlap = resolveOverlap(request.overlap, schedule_config_json)
  const changes = [schedule_config_json, description, input_json, run_as_service_account, overlap]

  return await updateLocked(deps, request.ref, async (tx, row) => {
    if (changes.every((member) => member === undefined)) return row
    if (input_json !== undefined) await schedules.saveInput(tx, row.id, input_json || 'null')
    const configured =
      schedule_config_json === undefined
        ? row
        : await reconfigureLocked(tx, row, schedule_config_json)
    return {
      ...configured,
      description: description ?? row.description,
      run_as_service_account: (run_as_service_account ?? row.run_as_service_account) || undefined,
      overlap: overlap ?? row.overlap,
      changed_by: subject,
      changed_by_issuer: issuer,
    }
  })
}
