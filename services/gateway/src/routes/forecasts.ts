import { toVisibilityMessage } from '@windlass/domain/visibility'
import type { Clients } from '../clients/connect.ts'
import { integer } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { changeOf, ForecastView, NextView } from './forecast-views.ts'
import { timeOf } from './responses.ts'

type Deps = Pick<Clients, 'scheduler'>

export const getNextTicks = route('get', '/schedules/{schedule_id}/next', {
  summary: 'List the next ticks of a schedule, by its id or name',
  isExpensive: true,
  access: 'may read schedule',
  query: { count: integer({ min: 1, max: 1_000 }).default(10) },
  returns: NextView,
  async handle({ query: { count }, resolved: { id: ref } }, { scheduler }: Deps) {
    const { schedule, timezone, ticks, clock_changes } = await scheduler.next({
      ref,
      count,
    })
    return {
      schedule_id: ref,
      name: schedule?.name ?? '',
      status: schedule?.status ?? '',
      timezone,
      next: ticks.map(({ at, local }) => ({ at: timeOf(at) ?? '', local })),
      clock_changes: clock_changes.map(changeOf),
    }
  },
})

export const getForecast = route('get', '/schedules/forecast', {
  summary: 'List upcoming ticks, their overlaps and the clock changes',
  isExpensive: true,
  access: 'may list schedules',
  query: {
    hours: integer({ min: 1, max: 8_784 }).default(168),
    limit: integer({ min: 1, max: 10_000 }).default(1_000),
  },
  returns: ForecastView,
  async handle({ query, resolved }, { scheduler }: Deps) {
    // A scheduler of an earlier release ignores the workflows and lists only the ids.
    const visible = toVisibilityMessage(resolved)
    const forecast = await scheduler.forecast({ ...query, ...visible })
    return {
      ...forecast,
      from: timeOf(forecast.from) ?? '',
      to: timeOf(forecast.to) ?? '',
      complete_until: timeOf(forecast.complete_until),
      ticks: forecast.ticks.map(({ at, schedule_id }) => ({ at: timeOf(at) ?? '', schedule_id })),
      schedules: forecast.schedules.map(({ listed_until, clock_changes, ...schedule }) => ({
        ...schedule,
        listed_until: timeOf(listed_until),
        clock_changes: clock_changes.map(changeOf),
      })),
      clashes: forecast.clashes.map((clash) => ({ ...clash, at: timeOf(clash.at) ?? '' })),
    }
  },
})
