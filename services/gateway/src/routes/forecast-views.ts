import type { ClockChange } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { z } from 'zod'
import { timeOf } from './responses.ts'

const time = z.string()

const ClockChangeView = z
  .object({
    at: time,
    kind: z
      .enum(['gap', 'fold'])
      .describe('`gap`: the local times do not exist; `fold`: they occur twice'),
    timezone: z.string(),
    local_times: z.array(z.string()).describe('Local times that are affected'),
    fires_at: z.array(time).describe('Times at which the schedule fires for them'),
  })
  .meta({ id: 'ClockChange' })

export const changeOf = ({ kind, timezone, local_times, at, fires_at }: ClockChange) => ({
  at: timeOf(at) ?? '',
  kind: kind as 'gap' | 'fold',
  timezone,
  local_times,
  fires_at: fires_at.map((moment) => timeOf(moment) ?? ''),
})

export const NextView = z
  .object({
    schedule_id: z.string(),
    name: z.string(),
    status: z.string().describe('If paused, the ticks are those after a resume at this moment'),
    timezone: z.string(),
    next: z.array(
      z.object({
        at: time,
        local: z.string().describe('The same time in the time zone of the schedule'),
      }),
    ),
    clock_changes: z.array(ClockChangeView),
  })
  .meta({ id: 'NextTicks' })

export const ForecastView = z
  .object({
    from: time,
    to: time,
    ticks: z.array(z.object({ at: time, schedule_id: z.string() })),
    complete_until: time
      .nullable()
      .describe('The last listed tick, if there are too many: later ones are left out'),
    schedules: z.array(
      z.object({
        schedule_id: z.string(),
        name: z.string(),
        workflow_namespace: z.string(),
        workflow_name: z.string(),
        timezone: z.string(),
        listed: z.int(),
        listed_until: time
          .nullable()
          .describe('The last listed tick, if there are more than are listed'),
        clock_changes: z.array(ClockChangeView),
      }),
    ),
    clashes: z
      .array(
        z.object({
          at: time,
          count: z.int(),
          schedule_ids: z.array(z.string()),
          workflows: z.array(z.string()).describe('Workflows that several of them start'),
        }),
      )
      .describe('Times at which several schedules fire, those with the most first'),
    looked_at: z.int(),
    active: z.int().describe('Active schedules that the caller may read'),
  })
  .meta({ id: 'Forecast' })
