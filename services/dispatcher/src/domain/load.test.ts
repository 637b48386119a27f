import { expect, test } from 'vitest'
import { Load } from './load.ts'

test('a count: replaces the estimate', () => {
  const load = new Load()
  load.slotsFreed(1)
  load.countRequested()
  load.applyCount(3, 1)
  expect(load.used).toBe(3)
})

test('assigned and freed slots after a count: change the estimate', () => {
  const load = new Load()
  load.applyCount(3, 1)
  load.addAssigned(2)
  expect(load.used).toBe(4)
  load.slotsFreed(2)
  expect(load.used).toBe(2)
})

test('slots freed during a count: are subtracted from it', () => {
  const load = new Load()
  load.countRequested()
  load.slotsFreed(1)
  load.applyCount(3, 1)
  expect(load.used).toBe(2)
})

test('assignment from a wait that began before the count: not added again', () => {
  const load = new Load()
  load.applyCount(3, 2)
  load.addAssigned(1)
  expect(load.used).toBe(3)
})

test('more slots freed than used: the estimate stays at 0', () => {
  const load = new Load()
  load.countRequested()
  load.slotsFreed(2)
  expect(load.used).toBe(0)
  load.applyCount(1, 1)
  expect(load.used).toBe(0)
})
