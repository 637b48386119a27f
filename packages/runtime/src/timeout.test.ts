import { getActiveResourcesInfo } from 'node:process'
import { expect, test } from 'vitest'
import { waitAtMost } from './timeout.ts'

const HOUR_MS = 3_600_000
const timers = () => getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

test('a promise that resolves: no further wait, no timer left', async () => {
  const before = timers()
  await waitAtMost(HOUR_MS, Promise.resolve())
  expect(timers()).toBe(before)
})

test('a promise that never settles: waits for the time limit', async () => {
  await waitAtMost(1, new Promise(() => {}))
})

test('a promise that rejects in time: rejects, no timer left', async () => {
  const before = timers()
  await expect(waitAtMost(HOUR_MS, Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(timers()).toBe(before)
})
