import { expect, onTestFinished, test, vi } from 'vitest'
import { RequestTimeoutError } from './errors.ts'
import { TimeLimit } from './time-limit.ts'

function useFakeTimers() {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
}

test('the time is up: aborts with RequestTimeoutError; a restart postpones it', () => {
  useFakeTimers()
  const limit = new TimeLimit(1_000, new AbortController().signal)
  vi.advanceTimersByTime(999)
  limit.restart()
  vi.advanceTimersByTime(999)
  expect(limit.signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(limit.signal.reason).toBeInstanceOf(RequestTimeoutError)
})

test('the limit is stopped: never aborts, and leaves no timer', () => {
  useFakeTimers()
  const limit = new TimeLimit(1_000, new AbortController().signal)
  limit.stop()
  expect(vi.getTimerCount()).toBe(0)
  expect(limit.signal.aborted).toBe(false)
})

test('the caller aborts: aborts with its reason', () => {
  const caller = new AbortController()
  const limit = new TimeLimit(60_000, caller.signal)
  caller.abort(new Error('gone'))
  expect(limit.signal.reason).toMatchObject({ message: 'gone' })
  limit.stop()
})
