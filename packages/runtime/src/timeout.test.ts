import { expect, test, vi } from 'vitest'
import { waitAtMost } from './timeout.ts'

test('a promise that settles in time: its wait ends, and no timer is left', async () => {
  vi.useFakeTimers()
  try {
    await waitAtMost(1_000, Promise.resolve())
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('a promise that takes longer: the wait ends after its limit', async () => {
  await waitAtMost(1, new Promise(() => {}))
})

test('a promise that rejects in time: the wait rejects', async () => {
  await expect(waitAtMost(60_000, Promise.reject(new Error('away')))).rejects.toThrow('away')
})
