import { getActiveResourcesInfo } from 'node:process'
import { expect, test } from 'vitest'
import { waitAtMost } from './timeout.ts'

const HOUR_MS = 3_600_000
const timers = () => getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

test('what comes is not waited for longer, and leaves no timer', async () => {
  const before = timers()
  await waitAtMost(HOUR_MS, Promise.resolve())
  expect(timers()).toBe(before)
})

test('what never comes is waited for until the time is over', async () => {
  await waitAtMost(1, new Promise(() => {}))
})

test('what fails in time is told, and leaves no timer', async () => {
  const before = timers()
  await expect(waitAtMost(HOUR_MS, Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(timers()).toBe(before)
})
