import { expect, test } from 'vitest'
import { daysOf, listedUntil } from './forecast-days.ts'

const at = (day: number, hour: number, minute = 0) =>
  new Date(2026, 10, day, hour, minute).toISOString()

test('ticks of a week: counted by day and hour of the local clock', () => {
  const days = daysOf({
    ...{ from: at(23, 12), to: at(30, 12), complete_until: null, schedules: [] },
    ...{ looked_at: 2, active: 2 },
    ticks: [
      { at: at(23, 13), schedule_id: 'a' },
      { at: at(23, 13, 30), schedule_id: 'a' },
      { at: at(23, 13, 30), schedule_id: 'b' },
      { at: at(30, 0), schedule_id: 'b' },
    ],
    clashes: [{ at: at(23, 13, 30), count: 2, schedule_ids: ['a', 'b'], workflows: [] }],
  })
  expect(days.map(({ ticks, most }) => [ticks, most])).toEqual([
    [3, 2],
    ...Array.from({ length: 6 }, () => [0, 0]),
    [1, 1],
  ])
  expect(days[0]?.hours[13]).toEqual({ ticks: 3, schedules: 2, isWhole: true })
  expect(days.every(({ isWhole }) => isWhole)).toBe(true)
})

test('a schedule that fires more often than is listed: hours and days after its last tick may have more', () => {
  const often = {
    ...{ schedule_id: 'a', name: 'often', workflow_namespace: 'default', workflow_name: 'w' },
    ...{ listed_until: at(24, 11, 55), clock_changes: [] },
  }
  const forecast = {
    ...{ from: at(23, 12), to: at(30, 12), complete_until: null, ticks: [], clashes: [] },
    ...{ schedules: [{ ...often, listed_until: null }, often], looked_at: 2, active: 2 },
  }
  const days = daysOf(forecast)
  expect(days.map(({ isWhole }) => isWhole)).toEqual([true, ...Array(7).fill(false)])
  const whole = days[1]?.hours.map(({ isWhole }) => isWhole)
  expect(whole).toEqual([...Array(11).fill(true), ...Array(13).fill(false)])
  expect(listedUntil(forecast)).toBe(Date.parse(at(24, 11, 55)))
  // The forecast ends at noon of the last day: its later hours have no ticks that are left out.
  const all = daysOf({ ...forecast, schedules: [{ ...often, listed_until: at(30, 12) }] })
  expect(all.at(-1)?.isWhole).toBe(true)
})
