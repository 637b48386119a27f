import { ExecutionsChanged } from '@windlass/proto/windlass/signals/v1/signals'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ChangeSignals } from './change-signals.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function recorded() {
  const heard: string[][] = []
  const publishBestEffort = (_: string, bytes: Uint8Array) =>
    void heard.push(ExecutionsChanged.decode(bytes).execution_ids)
  return { heard, signals: new ChangeSignals({ publishBestEffort }) }
}

test('a change after a pause: it is signalled at once', () => {
  const { heard, signals } = recorded()
  signals.add(['a'])
  expect(heard).toEqual([['a']])
  vi.advanceTimersByTime(1_000)
  signals.add(['b'])
  expect(heard).toEqual([['a'], ['b']])
})

test('many changes within a tenth of a second: one more signal names each execution once, in the order of the last changes', () => {
  const { heard, signals } = recorded()
  signals.add(['a'])
  signals.add(['b', 'c'])
  signals.add(['d', 'b'])
  expect(heard).toHaveLength(1)
  vi.advanceTimersByTime(100)
  expect(heard).toEqual([['a'], ['c', 'd', 'b']])
})

test('changes that continue: signals are a tenth of a second apart', () => {
  const { heard, signals } = recorded()
  for (let ms = 0; ms < 1_000; ms += 10) {
    signals.add([`${ms}`])
    vi.advanceTimersByTime(10)
  }
  expect(heard.flat()).toHaveLength(100)
  expect(heard).toHaveLength(11)
})

test.each([[['b']], [[]]])(
  'the process ends with %j left: it is signalled, and no timer is left',
  (left) => {
    const { heard, signals } = recorded()
    signals.add(['a'])
    signals.add(left)
    signals.stop()
    expect(heard.flat()).toEqual(['a', ...left])
    expect(vi.getTimerCount()).toBe(0)
  },
)

test('a commit that changes nothing: no signal, and the next change is signalled at once', () => {
  const { heard, signals } = recorded()
  signals.add([])
  signals.add(['a'])
  expect(heard).toEqual([['a']])
})
