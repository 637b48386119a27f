import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { demand, may, refusal } from './caller.ts'
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
