import { expect, test } from 'vitest'
import { Load } from './load.ts'

test('a count is believed', () => {
  const load = new Load()
  load.slotsFreed(1)
  load.countRequested()
  load.applyCount(3, 1)
  expect(load.used).toBe(3)
})

test('what is given and freed after a count changes it', () => {
  const load = new Load()
  load.applyCount(3, 1)
  load.addAssigned(2)
  expect(load.used).toBe(4)
  load.slotsFreed(2)
  expect(load.used).toBe(2)
})

test('what is freed while the count is under way does not count', () => {
  const load = new Load()
  load.countRequested()
  load.slotsFreed(1)
  load.applyCount(3, 1)
  expect(load.used).toBe(2)
})

test('what a count may have already is not counted again', () => {
  const load = new Load()
  load.applyCount(3, 2)
  load.addAssigned(1)
  expect(load.used).toBe(3)
})

test('it is never less than nothing', () => {
  const load = new Load()
  load.countRequested()
  load.slotsFreed(2)
  expect(load.used).toBe(0)
  load.applyCount(1, 1)
  expect(load.used).toBe(0)
})
