import { expect, test } from 'vitest'
import { afterPoll, canEvict } from './eviction-guard.ts'

const limits = { gap_ms: 3_000, eviction_after_ms: 40_000 }
const calm = { polled_at_ms: 10_000, evict_from_ms: 0 }

test('regular ticks: evictions are allowed', () => {
  expect(canEvict(afterPoll(calm, 11_000, limits), 11_000)).toBe(true)
})

test('a gap longer than normal: evictions are postponed by its length', () => {
  const stalled = afterPoll(calm, 35_000, limits)
  expect(canEvict(stalled, 59_999)).toBe(false)
  expect(canEvict(stalled, 60_000)).toBe(true)
})

test('a regular tick after a gap: the postponement stays', () => {
  const later = afterPoll(afterPoll(calm, 35_000, limits), 36_000, limits)
  expect(canEvict(later, 59_999)).toBe(false)
})

test('a very long gap: evictions are postponed by eviction_after_ms at most', () => {
  const stalled = afterPoll(calm, 10_000_000, limits)
  expect(canEvict(stalled, 10_040_000)).toBe(true)
})
