import { expect, test } from 'vitest'
import { decideRetry, retryDelayMs } from './retry.ts'

test('delays between attempts: double from 1 s to 30 s', () => {
  expect([0, 1, 4, 5, 1_000].map(retryDelayMs)).toEqual([1_000, 2_000, 16_000, 30_000, 30_000])
})

test('retries: within the catch-up window; given up a minute after it', () => {
  expect(decideRetry(3_600_000, 3_600_000)).toBe('retry')
  expect(decideRetry(3_600_001, 3_600_000)).toEqual({ waitMs: 59_999 })
  expect(decideRetry(3_659_999, 3_600_000)).toEqual({ waitMs: 1 })
  expect(decideRetry(3_660_000, 3_600_000)).toBe('give_up')
})
