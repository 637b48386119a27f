import { expect, test } from 'vitest'
import { callsOf, compareCalls, type DigestedEntry } from './compare-calls.ts'

const log = (...entries: [type: string, call: string, digest?: string][]): DigestedEntry[] =>
  entries.map(([type, source_id, digest = ''], i) => ({
    ...{ seq: i + 1, type, source_id, name: source_id, digest },
    time: `2026-01-02T03:04:0${i}.000`,
  }))

const compare = (a: DigestedEntry[], b: DigestedEntry[]) => compareCalls(callsOf(a), callsOf(b))

const A = log(
  ['WORKFLOW_STARTED', 'w'],
  ['TASK_STARTED', 'a'],
  ['TASK_COMPLETED', 'a', 'x'],
  ['TASK_STARTED', 'b'],
  ['TASK_COMPLETED', 'b', 'y'],
)

test('equal calls in another order: no difference', () => {
  const b = log(
    ['TASK_STARTED', 'b'],
    ['TASK_STARTED', 'a'],
    ['TASK_COMPLETED', 'b', 'y'],
    ['TASK_COMPLETED', 'a', 'x'],
  )
  expect(compare(A, b)).toEqual({ same: 2, different: 0, only_a: 0, only_b: 0 })
})

test('another result, another state: the first of them with its place in both', () => {
  const b = log(
    ['TASK_STARTED', 'a'],
    ['TASK_COMPLETED', 'a', 'z'],
    ['TASK_STARTED', 'b'],
    ['TASK_FAILED', 'b', 'y'],
  )
  const { first, ...counts } = compare(A, b)
  expect(counts).toEqual({ same: 0, different: 2, only_a: 0, only_b: 0 })
  expect(first).toMatchObject({
    ...{ kind: 'result', a: { seq: 2, last_seq: 3, duration_ms: 1_000, state: 'completed' } },
    b: { seq: 1, last_seq: 2 },
  })
})

test('a call in one log only: missing in the other', () => {
  const b = log(['TASK_STARTED', 'c'], ['TASK_STARTED', 'a'], ['TASK_COMPLETED', 'a', 'x'])
  const { first, ...counts } = compare(A, b)
  expect(counts).toEqual({ same: 1, different: 0, only_a: 1, only_b: 1 })
  expect(first).toMatchObject({
    kind: 'missing',
    a: undefined,
    b: { call_id: 'c', state: 'running' },
  })
})
