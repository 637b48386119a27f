import { expect, test } from 'vitest'
import { stepsOf } from './series.ts'

test('statistics with gaps: a step for each, with zeros where nothing ran', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 23, 9, minute)).toISOString()
  const none = { queue_wait: null, run_time: null, started: 0, group: null }
  const stats = {
    ...{ from: at(0), to: at(3), step: 60, cut: false },
    buckets: [{ at: at(1), ended: 5, failed: 2, ...none }],
  }
  expect(stepsOf(stats, (one) => [one?.failed ?? 0, one?.ended ?? 0])).toEqual([
    { at: Date.parse(at(0)), values: [0, 0] },
    { at: Date.parse(at(1)), values: [2, 5] },
    { at: Date.parse(at(2)), values: [0, 0] },
  ])
})
