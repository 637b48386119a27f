import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { Fault } from '@windlass/runtime/faults'
import type { Services } from '../clients/connect.ts'
import { schedulesIn } from '../domain/permissions.ts'
import { type Caller, demand, may, refusal } from './caller.ts'
import { type Asked, rule } from './rule.ts'
import { ifNotFound } from './workflow.ts'

/** A schedule may be named in the path; what is needed speaks of its id. A refusal does not tell whether it is there. */
export const mayReadSchedule = rule({
  summary: 'schedule:<id>:read',
  for: 'people',
  asks: ['schedule:{schedule_id}:read'],
  async admit({ params, caller, services }: Asked<{ schedule_id: string }>): Promise<Schedule> {
    const { schedule_id: ref } = params
    const asked = services.scheduler.get({ ref })
    if (may(caller, 'schedule:*:read')) return asked
    const schedule = await asked.catch(ifNotFound)
    const needed = `schedule:${ref}:read`
    if (!schedule) demand(caller, needed)
    else if (!may(caller, `schedule:${schedule.id}:read`)) throw refusal(needed)
    return asked
  },
})

/** The schedules that the caller may read: all, or these. */
export interface Readable {
  all: boolean
  ids: string[]
}

export const mayForecast = rule({
  summary: 'schedule:*:read, or schedule:<id>:read; other schedules are left out',
  for: 'people',
  asks: ['schedule:*:read'],
  async admit({ caller }: Asked<unknown>): Promise<Readable> {
    if (may(caller, 'schedule:*:read')) return { all: true, ids: [] }
    const ids = schedulesIn(caller.permissions ?? [])
    if (ids.length === 0) demand(caller, 'schedule:*:read')
    return { all: false, ids }
  },
})

/** Refuses an account to run as that the caller may not name, or that cannot run anything. */
export async function checkAccount(
  caller: Caller,
  { principals }: Services,
  subject: string,
): Promise<void> {
  const isItself = caller.subject === subject && caller.issuer === INTERNAL_ISSUER
  if (!isItself) demand(caller, 'admin:principals:manage')
  const account = await principals
    .get({ subject, external_issuer: INTERNAL_ISSUER })
    .catch(ifNotFound)
  if (account?.type !== 'service_account')
    throw new Fault('invalid', `Service account '${subject}' not found`)
  if (!account.enabled) throw new Fault('invalid', `Service account '${subject}' is disabled`)
}
