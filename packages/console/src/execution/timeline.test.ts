import { expect, test } from 'vitest'
import { toEvent } from '../exact/execution.ts'
import { callsOf } from './calls.ts'
import { attemptsOf, spanOf, timeOfId } from './segments.ts'

const log = (...entries: [at: number, type: string, name?: string][]) =>
  entries.map(([at, type, name = 'task']) =>
    toEvent(
      JSON.stringify({
        id: `${at}${type}`,
        type,
        source_id: `${name}_1`,
        name,
        value: null,
        time: new Date(at).toISOString(),
      }),
    ),
  )

const phases = (events: ReturnType<typeof log>, now = 9_000) =>
  attemptsOf(0, events, now).map(({ segments, worker }) => [
    worker,
    ...segments.map(({ phase, from, to, isOpen }) => `${phase} ${from}-${to}${isOpen ? '+' : ''}`),
  ])

test('no entry yet: it is in the queue until now', () => {
  expect(phases([])).toEqual([[undefined, 'queue 0-9000+']])
})

test('a run: queue, claim and run up to its end', () => {
  const events = log(
    [10, 'WORKFLOW_SCHEDULED', 'w'],
    [20, 'WORKFLOW_CLAIMED', 'w'],
    [30, 'WORKFLOW_STARTED', 'hello'],
    [90, 'WORKFLOW_COMPLETED', 'hello'],
  )
  expect(phases(events)).toEqual([['w', 'queue 0-10', 'claim 10-30', 'run 30-90']])
  expect(spanOf(attemptsOf(0, events, 9_000))).toEqual({ from: 0, to: 90 })
})

test('a lost worker: a second attempt, which runs again with its first task', () => {
  const events = log(
    [10, 'WORKFLOW_SCHEDULED', 'w'],
    [30, 'WORKFLOW_STARTED', 'hello'],
    [50, 'WORKFLOW_SCHEDULED', 'v'],
    [55, 'WORKFLOW_CLAIMED', 'v'],
    [60, 'TASK_STARTED'],
  )
  expect(phases(events)).toEqual([
    ['w', 'queue 0-10', 'claim 10-30', 'run 30-50'],
    ['v', 'claim 50-60', 'run 60-9000+'],
  ])
})

test('a pause and a resume: the same attempt', () => {
  const events = log(
    [10, 'WORKFLOW_SCHEDULED', 'w'],
    [30, 'WORKFLOW_STARTED'],
    [40, 'WORKFLOW_PAUSED'],
    [70, 'WORKFLOW_RESUMING'],
    [75, 'WORKFLOW_RESUME_SCHEDULED', 'w'],
    [80, 'WORKFLOW_RESUMED'],
  )
  expect(phases(events)).toEqual([
    [
      ...['w', 'queue 0-10', 'claim 10-30', 'run 30-40', 'paused 40-70'],
      ...['queue 70-75', 'claim 75-80', 'run 80-9000+'],
    ],
  ])
})

test('calls: their states, times and retries; the failure of a first try is no retry', () => {
  const events = log(
    [10, 'TASK_STARTED', 'a'],
    [11, 'TASK_STARTED', 'b'],
    [20, 'TASK_COMPLETED', 'a'],
    [30, 'TASK_RETRY_FAILED', 'b'],
    [31, 'TASK_RETRY_STARTED', 'b'],
    [40, 'TASK_RETRY_COMPLETED', 'b'],
    [41, 'TASK_COMPLETED', 'b'],
    [50, 'TASK_AWAITING_APPROVAL', 'c'],
  )
  expect(callsOf(events).map(({ name, from, to, state }) => [name, from, to, state])).toEqual([
    ['a', 10, 20, 'completed'],
    ['b', 11, 41, 'completed'],
    ['c', 50, undefined, 'awaiting'],
  ])
  expect(callsOf(events)[1]?.tries).toEqual([{ at: 31, what: 'retry', ok: true }])
})

test('ids: the time of version 7, none of others', () => {
  expect(timeOfId('01a20780df3f7c6e939d05dd17e5c70b')).toBe(0x01a20780df3f)
  expect(timeOfId('01a20780df3f4c6e939d05dd17e5c70b')).toBeUndefined()
})
