import { expect, test } from 'vitest'
import { daysOf } from './forecast-days.ts'

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
  expect(days[0]?.hours[13]).toEqual({ ticks: 3, schedules: 2 })
})
