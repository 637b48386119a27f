import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { loadAgain } from './load-again.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const failing = (times: number) => {
  let left = times
  return vi.fn(async () => {
    if (left-- > 0) throw new TypeError('Failed to fetch')
    return 'script'
  })
}

test('a load that fails at first: repeated until it succeeds', async () => {
  const load = failing(3)
  const loaded = loadAgain(load, new AbortController().signal)
  await vi.runAllTimersAsync()
  expect(await loaded).toBe('script')
  expect(load).toHaveBeenCalledTimes(4)
})

test('a load that always fails: rejects with its error after six tries', async () => {
  const load = failing(Number.POSITIVE_INFINITY)
  const loaded = expect(loadAgain(load, new AbortController().signal)).rejects.toThrow(
    'Failed to fetch',
  )
  await vi.runAllTimersAsync()
  await loaded
  expect(load).toHaveBeenCalledTimes(6)
})

test('the screen was left: not repeated', async () => {
  const load = failing(1)
  await expect(loadAgain(load, AbortSignal.abort())).rejects.toThrow('Failed to fetch')
  expect(load).toHaveBeenCalledTimes(1)
})
