import { expect, onTestFinished, test, vi } from 'vitest'
import { startProgress } from './progress.ts'

function recordProgress(progressToken?: string | number) {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const reports: unknown[] = []
  const sendNotification = async ({ params }: { params: unknown }) => void reports.push(params)
  return { reports, stop: startProgress({ _meta: { progressToken }, sendNotification }) }
}

test('a progress token: reports at once and each 10 s, with growing seconds, until stopped', () => {
  const { reports, stop } = recordProgress(0)
  vi.advanceTimersByTime(20_000)
  stop()
  vi.advanceTimersByTime(60_000)
  expect(reports).toEqual(
    [0, 10, 20].map((seconds) => ({
      progressToken: 0,
      progress: seconds,
      message: `waiting for the execution for ${seconds} s`,
    })),
  )
  expect(vi.getTimerCount()).toBe(0)
})

test('no progress token: no report and no timer', () => {
  const { reports, stop } = recordProgress()
  expect(vi.getTimerCount()).toBe(0)
  stop()
  expect(reports).toEqual([])
})

test('a client that has gone: a report that cannot be sent is ignored', async () => {
  const sendNotification = () => Promise.reject(new Error('closed'))
  const stop = startProgress({ _meta: { progressToken: 'x' }, sendNotification })
  stop()
  await Promise.resolve()
})
