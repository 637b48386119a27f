import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { Fault } from '@windlass/runtime/faults'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import type { Clients } from '../clients/connect.ts'
import { schedulesIn } from '../domain/permissions.ts'
import { type Caller, hasPermission, permissionDenied, requirePermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'

/**
 * The path may have the name of a schedule; the permission names its id. A refusal does not
 * disclose whether the schedule exists.
 */
export const mayReadSchedule = rule({
  summary: 'schedule:<id>:read',
  for: 'people',
  requiredPermissions: ['schedule:{schedule_id}:read'],
  async authorize(
    { params, caller }: AccessRequest<{ schedule_id: string }>,
    { scheduler }: Pick<Clients, 'scheduler'>,
  ): Promise<Schedule> {
    const { schedule_id: ref } = params
    const reading = scheduler.get({ ref })
    if (hasPermission(caller, 'schedule:*:read')) return reading
    const schedule = await reading.catch(undefinedIfNotFound)
    const needed = `schedule:${ref}:read`
    if (!schedule) requirePermission(caller, needed)
    else if (!hasPermission(caller, `schedule:${schedule.id}:read`)) throw permissionDenied(needed)
    return reading
  },
})

/** The schedules that the caller may read: all, or these. */
export interface ReadableSchedules {
  all: boolean
  ids: string[]
}

export const mayForecast = rule({
  summary: 'schedule:*:read, or schedule:<id>:read; other schedules are left out',
  for: 'people',
  requiredPermissions: ['schedule:*:read'],
  async authorize({ caller }: AccessRequest<unknown>): Promise<ReadableSchedules> {
    if (hasPermission(caller, 'schedule:*:read')) return { all: true, ids: [] }
    const ids = schedulesIn(caller.permissions ?? [])
    if (ids.length === 0) requirePermission(caller, 'schedule:*:read')
    return { all: false, ids }
  },
})

/** Refuses an account to run as that the caller may not use, or that cannot run anything. */
export async function requireAccount(
  caller: Caller,
  { principals }: Pick<Clients, 'principals'>,
  subject: string,
): Promise<void> {
  const isItself = caller.subject === subject && caller.issuer === INTERNAL_ISSUER
  if (!isItself) requirePermission(caller, 'admin:principals:manage')
  const account = await principals
    .get({ subject, external_issuer: INTERNAL_ISSUER })
    .catch(undefinedIfNotFound)
  if (account?.type !== 'service_account')
    throw new Fault('invalid', `Service account '${subject}' not found`)
  if (!account.enabled) throw new Fault('invalid', `Service account '${subject}' is disabled`)
}
