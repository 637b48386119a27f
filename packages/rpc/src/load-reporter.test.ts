import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LoadReporter } from './load-reporter.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A reporter of a process with this utilization, and what it has sent. */
function startReporter() {
  const measured = { utilization: 0 }
  const sent: number[] = []
  const reporter = new LoadReporter(
    (percent) => sent.push(percent),
    () => measured.utilization,
  )
  return { measured, sent, reporter }
}

test('no calls: nothing is measured or sent', () => {
  const { measured, sent } = startReporter()
  measured.utilization = 1
  vi.advanceTimersByTime(10_000)
  expect([sent, vi.getTimerCount()]).toEqual([[], 0])
})

test('calls and little load: nothing is sent', () => {
  const { measured, sent, reporter } = startReporter()
  measured.utilization = 0.2
  reporter.onCall()
  vi.advanceTimersByTime(10_000)
  expect(sent).toEqual([])
})

test('calls and load: is sent twice a second', () => {
  const { measured, sent, reporter } = startReporter()
  measured.utilization = 0.954
  for (let i = 0; i < 4; i++) {
    reporter.onCall()
    vi.advanceTimersByTime(500)
  }
  expect(sent).toEqual([95, 95, 95, 95])
})

test('the load ends: six more reports, and then no timer', () => {
  const { measured, sent, reporter } = startReporter()
  measured.utilization = 0.9
  reporter.onCall()
  vi.advanceTimersByTime(500)
  measured.utilization = 0.01
  vi.advanceTimersByTime(60_000)
  expect(sent).toEqual([90, 1, 1, 1, 1, 1, 1])
  expect(vi.getTimerCount()).toBe(0)
})

test('stopped, and called after it: no timer', () => {
  const { reporter } = startReporter()
  reporter.stop()
  reporter.onCall()
  expect(vi.getTimerCount()).toBe(0)
})

test('stopped: nothing more is sent', () => {
  const { measured, sent, reporter } = startReporter()
  measured.utilization = 1
  reporter.onCall()
  reporter.stop()
  vi.advanceTimersByTime(60_000)
  expect(sent).toEqual([])
})
