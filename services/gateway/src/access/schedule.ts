import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import type { Visibility } from '@windlass/domain/visibility'
import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { Fault } from '@windlass/runtime/faults'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import type { Clients } from '../clients/connect.ts'

import { schedulesIn, visibleScopes } from '../domain/permissions.ts'
import { type ScheduledWorkflow, scheduledWorkflowOf } from '../domain/scheduled-workflow.ts'
import { type Caller, hasPermission, permissionDenied, requirePermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'

export type Deps = Pick<Clients, 'scheduler'>
type ScheduleRequest = AccessRequest<{ schedule_id: string }>
type Verb = 'read' | 'manage'

const inNamespace = (schedule: ScheduledWorkflow, verb: Verb) =>
  `schedule:${schedule.workflow_namespace}:${schedule.workflow_name}:${verb}`

/**
 * The path may contain the name of a schedule; the permission names its id or its workflow. A refusal does
 * not disclose whether the schedule exists.
 */
export const mayReadSchedule = rule({
  summary: 'schedule:<id>:read, or schedule:<namespace>:<workflow>:read',
  for: 'people',
  requiredPermissions: ['schedule:{schedule_id}:read'],
  namespacePermissions: ['schedule:{namespace}:{workflow_name}:read'],
  async authorize({ params, caller }: ScheduleRequest, { scheduler }: Deps): Promise<Schedule> {
    const { schedule_id: ref } = params
    const reading = scheduler.get({ ref })
    if (hasPermission(caller, 'schedule:*:read')) return reading
    const schedule = await reading.catch(undefinedIfNotFound)
    const needed = `schedule:${ref}:read`
    if (!schedule) requirePermission(caller, needed)
    else if (
      !hasPermission(caller, `schedule:${schedule.id}:read`) &&
      !hasPermission(caller, inNamespace(schedule, 'read'))
    )
      throw permissionDenied(needed)
    return reading
  },
})

/** The reference under which the scheduler finds the schedule that was authorized. */
export interface ScheduleRef {
  ref: string
}

/**
 * Requires `schedule:*:<verb>`, or the permission for the workflow of the schedule. In the second case the
 * result is the id, because the name might belong to another schedule by the time of the call.
 */
async function requireSchedule(
  { params: { schedule_id: ref }, caller }: ScheduleRequest,
  { scheduler }: Deps,
  verb: Verb,
): Promise<ScheduleRef> {
  const everywhere = `schedule:*:${verb}`
  if (hasPermission(caller, everywhere)) return { ref }
  if (visibleScopes(caller.permissions, 'schedule', verb).length === 0)
    throw permissionDenied(everywhere)
  const schedule = await scheduler.get({ ref }).catch(undefinedIfNotFound)
  if (!schedule || !hasPermission(caller, inNamespace(schedule, verb)))
    throw permissionDenied(everywhere)
  return { ref: schedule.id }
}

export const mayReadHistory = rule({
  summary: 'schedule:*:read, or schedule:<namespace>:<workflow>:read',
  for: 'people',
  requiredPermissions: ['schedule:*:read'],
  namespacePermissions: ['schedule:{namespace}:{workflow_name}:read'],
  authorize: (request: ScheduleRequest, deps: Deps) => requireSchedule(request, deps, 'read'),
})

export const mayManageSchedule = rule({
  summary: 'schedule:*:manage, or schedule:<namespace>:<workflow>:manage',
  for: 'people',
  requiredPermissions: ['schedule:*:manage'],
  namespacePermissions: ['schedule:{namespace}:{workflow_name}:manage'],
  authorize: (request: ScheduleRequest, deps: Deps) => requireSchedule(request, deps, 'manage'),
})

/**
 * The body names the workflow; a caller without the permission for any workflow is refused before the body
 * is read.
 */
export const mayCreateSchedule = rule({
  summary: 'schedule:*:manage, or schedule:<namespace>:<workflow>:manage',
  for: 'people',
  requiredPermissions: ['schedule:*:manage'],
  namespacePermissions: ['schedule:{namespace}:{workflow_name}:manage'],
  async authorize({ caller, body }: AccessRequest<unknown>): Promise<ScheduledWorkflow> {
    const isUnlimited = hasPermission(caller, 'schedule:*:manage')
    if (!isUnlimited && visibleScopes(caller.permissions, 'schedule', 'manage').length === 0)
      throw permissionDenied('schedule:*:manage')
    const { workflow_namespace, workflow_name } = (await body()) as NamedInBody
    const workflow = scheduledWorkflowOf(workflow_namespace ?? '', workflow_name)
    if (!isUnlimited) requirePermission(caller, inNamespace(workflow, 'manage'))
    return workflow
  },
})

interface NamedInBody {
  workflow_namespace?: string | null
  workflow_name: string
}

/** Resolves to the schedules that the caller may read. */
export const mayListSchedules = rule({
  summary:
    'schedule:*:read, schedule:<namespace>:<workflow>:read or schedule:<id>:read; other schedules are left out',
  for: 'people',
  isFiltered: true,
  requiredPermissions: ['schedule:*:read'],
  namespacePermissions: ['schedule:{namespace}:{workflow_name}:read'],
  async authorize({ caller }: AccessRequest<unknown>): Promise<Visibility> {
    const { permissions } = caller
    if (permissions.kind === 'all' || hasPermission(caller, 'schedule:*:read'))
      return { kind: 'all' }
    const ids = schedulesIn(permissions.granted)
    const workflows = visibleScopes(permissions, 'schedule')
    if (ids.length + workflows.length === 0) throw permissionDenied('schedule:*:read')
    return { kind: 'only', workflows, ids }
  },
})

const NAME_ACCOUNTS = 'admin:principals:manage'

/** True if the caller may name any account for a schedule to run as. */
export const mayNameAccounts = (caller: Caller): boolean => hasPermission(caller, NAME_ACCOUNTS)

/** Refuses an account that the caller may not use, or that cannot run anything. */
export async function requireAccount(
  caller: Caller,
  { principals }: Pick<Clients, 'principals'>,
  subject: string,
): Promise<void> {
  const isItself = caller.subject === subject && caller.issuer === INTERNAL_ISSUER
  if (!isItself) requirePermission(caller, NAME_ACCOUNTS)
  const account = await principals
    .get({ subject, external_issuer: INTERNAL_ISSUER })
    .catch(undefinedIfNotFound)
  if (account?.type !== 'service_account')
    throw new Fault('invalid', `Service account '${subject}' not found`)
  if (!account.enabled) throw new Fault('invalid', `Service account '${subject}' is disabled`)
}
