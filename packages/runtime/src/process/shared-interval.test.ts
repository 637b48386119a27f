import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startSharedInterval } from './shared-interval.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

test('several users of one interval: one timer runs all of them in the same turn', () => {
  const times: string[] = []
  const stopA = startSharedInterval(250, () => times.push(`a ${performance.now()}`))
  vi.advanceTimersByTime(100)
  const stopB = startSharedInterval(250, () => times.push(`b ${performance.now()}`))
  const begunMs = performance.now() - 100
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(400)
  const [first, second] = [begunMs + 250, begunMs + 500]
  expect(times).toEqual([`a ${first}`, `b ${first}`, `a ${second}`, `b ${second}`])
  stopA()
  stopB()
})

test('a user stops: the others continue; the last one stops the timer', () => {
  let runs = 0
  const count = () => {
    runs++
  }
  const stops = [startSharedInterval(250, count), startSharedInterval(250, count)]
  stops[0]?.()
  stops[0]?.()
  vi.advanceTimersByTime(250)
  expect(runs).toBe(1)
  stops[1]?.()
  expect(vi.getTimerCount()).toBe(0)
  startSharedInterval(250, count)()
  expect(vi.getTimerCount()).toBe(0)
})
