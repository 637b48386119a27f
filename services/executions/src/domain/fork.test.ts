import { expect, test } from 'vitest'
import { type OutlineEntry, planFork } from './fork.ts'

const outline = (...entries: [type: string, call?: string][]): OutlineEntry[] =>
  entries.map(([type, source_id = 'w'], i) => ({
    seq: i + 1,
    type,
    source_id,
    name: `n-${source_id}`,
  }))

const LOG = outline(
  ['WORKFLOW_SCHEDULED'],
  ['WORKFLOW_CLAIMED'],
  ['WORKFLOW_STARTED'],
  ['TASK_STARTED', 'a'],
  ['TASK_COMPLETED', 'a'],
  ['TASK_STARTED', 'b'],
  ['TASK_RETRY_STARTED', 'b'],
  ['TASK_RETRY_FAILED', 'b'],
  ['TASK_STARTED', 'c'],
  ['TASK_FAILED', 'c'],
  ['TASK_FAILED', 'b'],
  ['WORKFLOW_FAILED'],
)

test('a fork after an entry: the outcomes up to it, without start, workers and starts of open calls', () => {
  expect(planFork(LOG, 10)).toEqual({
    seqs: [4, 5, 8, 9, 10],
    completions: 1,
    calls: 2,
    runs_again: [{ call_id: 'b', name: 'n-b', seq: 6 }],
  })
})

test('a fork at the beginning: no entry, and every call runs again', () => {
  const { seqs, runs_again } = planFork(LOG, 0)
  expect([seqs, runs_again.map(({ call_id }) => call_id)]).toEqual([[], ['a', 'b', 'c']])
})

test('a fork at the end: every outcome, without the end of the origin', () => {
  expect(planFork(LOG, 12)).toMatchObject({ seqs: [4, 5, 6, 7, 8, 9, 10, 11], runs_again: [] })
})

test('a pause with its resume: kept; the approval of a call: left out, so that it is asked for again', () => {
  const log = outline(
    ['TASK_STARTED', 'p'],
    ['TASK_PAUSED', 'p'],
    ['WORKFLOW_PAUSED'],
    ['WORKFLOW_RESUMING'],
    ['WORKFLOW_RESUME_CLAIMED'],
    ['WORKFLOW_RESUMED'],
    ['TASK_RESUMED', 'p'],
    ['TASK_COMPLETED', 'p'],
    ['TASK_AWAITING_APPROVAL', 'q'],
    ['TASK_APPROVED', 'q'],
    ['TASK_STARTED', 'q'],
    ['WORKFLOW_CANCELLING'],
  )
  expect(planFork(log, 12)).toMatchObject({
    seqs: [1, 2, 3, 4, 6, 7, 8],
    runs_again: [{ call_id: 'q' }],
  })
})

test('a result without the completion of its call: does not run again', () => {
  const log = outline(['TASK_STARTED', 'a'], ['TASK_RETRY_COMPLETED', 'a'])
  expect(planFork(log, 2)).toMatchObject({ seqs: [1, 2], completions: 0, calls: 1, runs_again: [] })
})

test('an approval of the origin: not inherited by the call, its retries or calls that began after it', () => {
  const log = outline(
    ['TASK_STARTED', 'early'],
    ['TASK_STARTED', 'first'],
    ['TASK_COMPLETED', 'first'],
    ['TASK_STARTED', 'gate'],
    ['TASK_AWAITING_APPROVAL', 'gate~retry1'],
    ['WORKFLOW_PAUSED'],
    ['TASK_APPROVED', 'gate~retry1'],
    ['WORKFLOW_RESUMED'],
    ['TASK_COMPLETED', 'early'],
    ['TASK_COMPLETED', 'gate'],
    ['TASK_STARTED', 'pay'],
    ['TASK_COMPLETED', 'pay'],
    ['WORKFLOW_PAUSED'],
  )
  expect(planFork(log, 13)).toMatchObject({
    ...{ seqs: [1, 2, 3, 9], calls: 2, completions: 2 },
    runs_again: [{ call_id: 'gate' }, { call_id: 'pay' }],
  })
  expect(planFork(log, 6)).toMatchObject({ seqs: [2, 3, 6], calls: 1 })
})
