import type { Caller } from '@windlass/domain/caller'
import { isOverlapPolicy, OVERLAP_POLICIES, type OverlapPolicy } from '@windlass/domain/overlap'
import type { CreateRequest, Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { conflict, unprocessable } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import { readClock } from '@windlass/runtime/postgres/clock'
import { firstTick, parseConfig, parseOverlap } from '../domain/config.ts'
import { parseScheduleName } from '../domain/schedule-names.ts'
import { requireValidInput } from '../engine/check-inputs.ts'
import type { SchedulerDeps } from '../engine/deps.ts'
import { requireScheduleQuota } from '../engine/schedule-quota.ts'
import * as schedules from '../store/schedules.ts'
import { toScheduleView } from './views.ts'

export const NO_INPUT = 'null'

/**
 * Creates a schedule. Faults: `not_found` workflow, then `conflict` of names, then `unprocessable`
 * configuration or input.
 */
export async function createSchedule(
  deps: SchedulerDeps,
  request: CreateRequest,
  { subject, issuer }: Caller,
): Promise<Schedule> {
  const { db, catalog, wake } = deps
  const name = parseScheduleName(request.name)
  const { workflow_namespace, workflow_name } = parseWorkflowRef(request)
  const workflow = await catalog.resolve({
    namespace: workflow_namespace,
    name: workflow_name,
    version: 0,
  })
  if (await schedules.find(db, name)) throw nameTaken(name)
  const recurrence = parseConfig(request.schedule_config_json)
  const overlap = resolveOverlap(request.overlap, request.schedule_config_json) ?? 'allow'
  const now = await readClock(db)
  const next_run_at = firstTick(recurrence, now)
  const input = request.input_json || NO_INPUT
  requireValidInput(deps, workflow, input)
  await requireScheduleQuota(deps, { namespace: workflow.namespace, subject, issuer })
  const row = await schedules.insert(db, {
    id: newId(),
    name,
    workflow_id: workflow.id,
    workflow_namespace: workflow.namespace,
    workflow_name: workflow.name,
    description: request.description,
    schedule_type: recurrence.kind,
    schedule_config: request.schedule_config_json,
    input,
    run_as_service_account: request.run_as_service_account || undefined,
    changed_by: subject,
    changed_by_issuer: issuer,
    overlap,
    anchor_at: now,
    next_run_at,
    input_problem: undefined,
  })
  if (!row) throw nameTaken(name)
  wake()
  return toScheduleView(row, input)
}

const nameTaken = (name: string) => conflict(`Schedule '${name}' already exists`)

/** Overlap policy of a request: its own member, or the one in its configuration. Throws if they differ. */
export function resolveOverlap(requested: string | undefined, config: string | undefined) {
  const declared: OverlapPolicy | undefined =
    config === undefined ? undefined : parseOverlap(config)
  if (requested === undefined) return declared
  if (isOverlapPolicy(requested) && (declared === undefined || declared === requested))
    return requested
  const must = isOverlapPolicy(requested)
    ? 'be what schedule_config says'
    : `be one of ${OVERLAP_POLICIES.join(', ')}`
  throw unprocessable({
    loc: ['body', 'overlap'],
    msg: `overlap must ${must}`,
    type: 'value_error',
  })
}

/** Splits `namespace/name`; a name alone is in the default namespace unless the request has one. */
function parseWorkflowRef({ workflow_namespace, workflow_name }: CreateRequest) {
  if (workflow_namespace) return { workflow_namespace, workflow_name }
  const slash = workflow_name.indexOf('/')
  if (slash < 0) return { workflow_namespace: 'default', workflow_name }
  return {
    workflow_namespace: workflow_name.slice(0, slash),
    workflow_name: workflow_name.slice(slash + 1),
  }
}
