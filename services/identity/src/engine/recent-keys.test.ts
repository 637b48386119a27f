import { expect, test } from 'vitest'
import { RecentKeys } from './recent-keys.ts'

const adder = (max = 10) => {
  const recent = new RecentKeys({ windowMs: 100, max })
  return { recent, add: (key: string, now: number) => recent.add(key, now) }
}

test('a key within the window: new once, in the next window again', () => {
  const { add } = adder()
  expect([add('a', 0), add('a', 99), add('b', 99), add('a', 100), add('a', 199)]).toEqual([
    ...[true, false, true, true, false],
  ])
})

test('the clock is set back by more than a window: new again', () => {
  const { add } = adder()
  expect([add('a', 1_000), add('a', 950), add('a', 900)]).toEqual([true, false, true])
})

test('as many keys as a window may have: the next one begins a window', () => {
  const { add } = adder(2)
  expect([add('a', 0), add('b', 0), add('c', 0), add('a', 0)]).toEqual([true, true, true, true])
})

test('keys that are cleared: new again', () => {
  const { recent, add } = adder()
  add('a', 0)
  recent.clear()
  expect(add('a', 1)).toBe(true)
})
