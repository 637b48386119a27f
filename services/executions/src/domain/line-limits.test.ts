import { expect, test } from 'vitest'
import { MAX_BYTES, MAX_LINES, MAX_NUMBER, seqOf, withinLimits } from './line-limits.ts'

const line = (message: string) => ({
  ...{ execution_id: 'e', seq: 1, task_id: 't', task_name: 't', level: 20, logger: 'stdout' },
  ...{ message, time: '' },
})

const messages = (count: number) => Array.from({ length: count }, (_, i) => line(`${i}`))

test('lines within the limits: all are kept, with the totals after each', () => {
  const kept = withinLimits({ line_count: 2, byte_count: 10 }, [line('é'), line('')])
  expect(kept.map(({ line_count, byte_count }) => [line_count, byte_count])).toEqual([
    [3, 12],
    [4, 12],
  ])
})

test('lines above the limit: the first becomes the marker, later ones are dropped', () => {
  const before = { line_count: MAX_LINES - 1, byte_count: 0 }
  const kept = withinLimits(before, messages(4))
  expect(kept.map(({ message }) => message)).toEqual(['0', expect.stringMatching(/no more lines/)])
  expect(withinLimits(kept.at(-1) ?? before, messages(1))).toEqual([])
})

test('a message beyond the bytes of an execution: the marker takes its place', () => {
  const before = { line_count: 1, byte_count: MAX_BYTES - 1 }
  const kept = withinLimits(before, [line('a'), line('b')])
  expect(kept.map(({ level }) => level)).toEqual([20, 30])
})

test('positions: lines of a later claim come later', () => {
  expect(seqOf(3, MAX_NUMBER - 1)).toBeLessThan(seqOf(4, 0))
  expect(Number.isSafeInteger(seqOf(2 ** 31, MAX_NUMBER))).toBe(true)
})
