import { expect, test } from 'vitest'
import { backoffMs } from './backoff.ts'

test.each([
  [1, 500, 1_000],
  [2, 1_000, 2_000],
  [6, 15_000, 30_000],
  [1_000, 15_000, 30_000],
])('%d failures: between %d and %d milliseconds', (failures, least, most) => {
  expect(backoffMs({ failures }, () => 0)).toBe(least)
  expect(backoffMs({ failures }, () => 1)).toBe(most)
})

test('Retry-After: not sooner, and not all browsers at the same moment', () => {
  const at = (part: number) => backoffMs({ failures: 1, retryAfterMs: 7_000 }, () => part)
  expect([at(0), at(1)]).toEqual([7_500, 8_000])
})
