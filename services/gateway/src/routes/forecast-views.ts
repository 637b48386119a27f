import type { ClockChange } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { z } from 'zod'
import { timeOf } from './responses.ts'

const time = z.string()

const ClockChangeView = z
  .object({
    at: time,
    kind: z
      .enum(['gap', 'fold'])
      .describe('`gap`: the times do not exist; `fold`: they come twice'),
    timezone: z.string(),
    local_times: z.array(z.string()).describe('The times on the clock that are concerned'),
    fires_at: z.array(time).describe('When it fires for them'),
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
    status: z.string().describe('Of a paused schedule: the times as if it were resumed now'),
    timezone: z.string(),
    next: z.array(
      z.object({ at: time, local: z.string().describe('The same on the clock of the zone') }),
    ),
    clock_changes: z.array(ClockChangeView),
  })
  .meta({ id: 'NextTicks' })

export const ForecastView = z
  .object({
    from: time,
    to: time,
    ticks: z.array(z.object({ at: time, schedule_id: z.string() })),
    complete_until: time.nullable().describe('Later ticks are left out, since there are too many'),
    schedules: z.array(
      z.object({
        schedule_id: z.string(),
        name: z.string(),
        workflow_namespace: z.string(),
        workflow_name: z.string(),
        timezone: z.string(),
        listed: z.int(),
        listed_until: time.nullable().describe('It fires more often than is listed'),
        clock_changes: z.array(ClockChangeView),
      }),
    ),
    clashes: z
      .array(
        z.object({
          at: time,
          count: z.int(),
          schedule_ids: z.array(z.string()),
          workflows: z.array(z.string()).describe('That more than one of them starts'),
        }),
      )
      .describe('Moments at which several schedules fire, the largest first'),
    looked_at: z.int(),
    active: z.int().describe('Active schedules that the caller may read'),
  })
  .meta({ id: 'Forecast' })
