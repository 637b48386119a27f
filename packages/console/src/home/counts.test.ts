import { expect, test } from 'vitest'
import type { QueueRow } from '../api/queue.ts'
import { failedLately, totalText, waitingOf } from './counts.ts'

const queue = (depth: number, oldest: string | null, depth_exact = true): QueueRow => ({
  ...{ requirement_id: 'r', depth, depth_exact, oldest, workers: [] },
  requirement: { packages: [], affinity: {}, runner: null, namespace: null },
  rates: { created_per_minute: 0, started_per_minute: 0 },
})

test('executions that wait for a worker: the sum of the needs, and the oldest of all', () => {
  expect(waitingOf([])).toEqual({ total: 0, total_exact: true, oldest: undefined })
  const [first, second] = [queue(2, '1970-01-01T00:00:09Z'), queue(3, '1970-01-01T00:00:04Z')]
  expect(waitingOf([first, second])).toEqual({ total: 5, total_exact: true, oldest: 4_000 })
  expect(waitingOf([first, queue(0, null, false)])).toMatchObject({ total: 2, total_exact: false })
})

test('a number that is not exact: "more than"; a server of an earlier release: exact', () => {
  expect(totalText({ total: 10_000, total_exact: false })).toBe('more than 10\u202f000')
  expect(totalText({ total: 7, total_exact: true })).toBe('7')
  expect(totalText({ total: 7 })).toBe('7')
})

test('failed in the last hour: by the time of the end', () => {
  expect(failedLately(3_609_999)).toEqual({
    state: 'FAILED',
    finished_after: '1970-01-01T00:00:00.000Z',
  })
})
