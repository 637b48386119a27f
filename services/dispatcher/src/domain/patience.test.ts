import { expect, test } from 'vitest'
import { looked, mayEvict } from './patience.ts'

const tolerance = { gap_ms: 3_000, silence_ms: 40_000 }
const calm = { looked_at_ms: 10_000, wait_until_ms: 0 }

test('a dispatcher that looks regularly evicts at once', () => {
  expect(mayEvict(looked(calm, 11_000, tolerance), 11_000)).toBe(true)
})

test('one that was stalled gives workers that time back', () => {
  const stalled = looked(calm, 35_000, tolerance)
  expect(mayEvict(stalled, 59_999)).toBe(false)
  expect(mayEvict(stalled, 60_000)).toBe(true)
})

test('a regular look does not end the wait', () => {
  const later = looked(looked(calm, 35_000, tolerance), 36_000, tolerance)
  expect(mayEvict(later, 59_999)).toBe(false)
})

test('nothing is postponed by more than the silence that evicts', () => {
  const stalled = looked(calm, 10_000_000, tolerance)
  expect(mayEvict(stalled, 10_040_000)).toBe(true)
})
