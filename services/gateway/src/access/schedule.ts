import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { demand } from './caller.ts'
import { type Asked, rule } from './rule.ts'

/** A schedule may be named in the path; what is needed speaks of its id. */
export const mayReadSchedule = rule({
  summary: 'schedule:<id>:read',
  for: 'people',
  async admit({ params, caller, services }: Asked<{ schedule_id: string }>): Promise<Schedule> {
    const schedule = await services.scheduler.get({ ref: params.schedule_id })
    demand(caller, `schedule:${schedule.id}:read`)
    return schedule
  },
})
