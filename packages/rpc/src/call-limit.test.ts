import { expect, test } from 'vitest'
import { CallLimit } from './call-limit.ts'

const after = (...reports: number[]) => {
  const limit = new CallLimit()
  for (const one of reports) limit.adapt(one)
  return limit.calls
}

test('no report: 16 calls', () => {
  expect(after()).toBe(16)
})

test('a replica that is busy for less than the target: 16 calls', () => {
  expect(after(0.1, 0.5, 0.7)).toBe(16)
})

test('a saturated replica: each report takes calls from it, and leaves one', () => {
  const saturated = Array.from({ length: 20 }, (_, i) => after(...Array(i).fill(1)))
  expect(saturated.slice(0, 5)).toEqual([16, 11, 8, 5, 4])
  expect(saturated.at(-1)).toBe(1)
})

test('a replica that is no longer saturated: gets 16 calls again within six reports', () => {
  const saturated = Array(50).fill(1)
  expect(after(...saturated, 0.1)).toBe(1)
  expect(after(...saturated, ...Array(6).fill(0.1))).toBe(16)
})

test('a load at the target: the number of calls stays', () => {
  expect(after(1, 1, 0.7, 0.7, 0.7)).toBe(8)
})
