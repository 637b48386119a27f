import { expect, test } from 'vitest'
import { Load } from './load.ts'

test('a count is believed', () => {
  const load = new Load()
  load.freed(1)
  load.asked()
  load.counted(3, 1)
  expect(load.used).toBe(3)
})

test('what is given and freed after a count changes it', () => {
  const load = new Load()
  load.counted(3, 1)
  load.given(2)
  expect(load.used).toBe(4)
  load.freed(2)
  expect(load.used).toBe(2)
})

test('what is freed while the count is under way does not count', () => {
  const load = new Load()
  load.asked()
  load.freed(1)
  load.counted(3, 1)
  expect(load.used).toBe(2)
})

test('what a count may have already is not counted again', () => {
  const load = new Load()
  load.counted(3, 2)
  load.given(1)
  expect(load.used).toBe(3)
})

test('it is never less than nothing', () => {
  const load = new Load()
  load.asked()
  load.freed(2)
  expect(load.used).toBe(0)
  load.counted(1, 1)
  expect(load.used).toBe(0)
})
