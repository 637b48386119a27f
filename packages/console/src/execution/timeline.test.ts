import { expect, test } from 'vitest'
import { toEvent } from '../exact/execution.ts'
import { callsOf, triesOf } from './calls.ts'
import { attemptsOf, spanOf, timeOfId } from './segments.ts'

const log = (...entries: [at: number, type: string, name?: string][]) =>
  entries.map(([at, type, name = 'task']) =>
    toEvent(
      JSON.stringify({
        id: `${at}${type}`,
        seq: at,
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

test('a lost worker: a second attempt, which runs again with its claim', () => {
  const events = log(
    [10, 'WORKFLOW_SCHEDULED', 'w'],
    [30, 'WORKFLOW_STARTED', 'hello'],
    [50, 'WORKFLOW_SCHEDULED', 'v'],
    [55, 'WORKFLOW_CLAIMED', 'v'],
  )
  expect(phases(events)).toEqual([
    ['w', 'queue 0-10', 'claim 10-30', 'run 30-50'],
    ['v', 'claim 50-55', 'run 55-9000+'],
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

/** Columns of calls that begin at 10, 11 and 50 ms after the base. */
const VIEW = {
  ...{ base: new Date(1_000).toISOString(), cut: false, tasks: ['fetch', 'store'] },
  calls: {
    ...{ task: [0, 1, 0], seq: [3, 1, 7], start: [10, 1, 39], duration: [10, 30, -1] },
    ...{ state: 'cfa', tries: [[1, 3]], cached: [0], compensated: [1], parent: [[2, 1]] },
  },
}

const PLAIN = {
  ...{ marks: [], rollback: undefined, hasFallback: false, isCompensating: false },
  ...{ isCached: false, isCompensated: false, retries: 0, depth: 0 },
}

test('columns of a timeline: calls with times, states, retries, and what encloses them', () => {
  expect(callsOf(VIEW)).toEqual([
    {
      ...PLAIN,
      ...{ seq: 3, name: 'fetch', from: 1_010, to: 1_020, state: 'completed', isCached: true },
    },
    {
      ...PLAIN,
      ...{ seq: 4, name: 'store', from: 1_011, to: 1_041, state: 'failed', retries: 2 },
      isCompensated: true,
    },
    {
      ...PLAIN,
      ...{ seq: 11, name: 'fetch', from: 1_050, to: undefined, state: 'awaiting', depth: 1 },
    },
  ])
})

test('tries of a call: each with its begin and end, the last one up to the rollback', () => {
  const calls = {
    ...VIEW.calls,
    ...{ retries: [[1, 5, 10, 2]], rollback: [[1, 20, -1]], fallback: [0], compensating: [2] },
  }
  const [cached, failed, undo] = callsOf({ ...VIEW, calls })
  expect([cached?.hasFallback, undo?.isCompensating]).toEqual([true, true])
  expect(failed && triesOf(failed)).toEqual([
    { number: 1, from: 1_011, to: 1_016, hasFailed: true },
    { number: 2, from: 1_026, to: 1_028, hasFailed: true },
  ])
  expect(failed?.rollback).toEqual({ from: 1_031, to: undefined })
  expect(undo && triesOf(undo)).toEqual([
    { number: 1, from: 1_050, to: undefined, hasFailed: false },
  ])
})

test('a retry that runs: the try before has failed, the last one has no end', () => {
  const calls = { ...VIEW.calls, retries: [[2, 5, 10]] }
  const [, , running] = callsOf({ ...VIEW, calls })
  expect(running && triesOf(running)).toEqual([
    { number: 1, from: 1_050, to: 1_055, hasFailed: true },
    { number: 2, from: 1_065, to: undefined, hasFailed: false },
  ])
})

test('columns of a later release: an unknown state and positions without a call change nothing', () => {
  const calls = { ...VIEW.calls, state: 'zzz', tries: [[9, 2]], cached: [9], parent: [[9, 9]] }
  expect(callsOf({ ...VIEW, calls }).map(({ state, depth }) => [state, depth])).toEqual([
    ['running', 0],
    ['running', 0],
    ['running', 0],
  ])
})

test('ids: the time of version 7, none of others', () => {
  expect(timeOfId('01a20780df3f7c6e939d05dd17e5c70b')).toBe(0x01a20780df3f)
  expect(timeOfId('01a20780df3f4c6e939d05dd17e5c70b')).toBeUndefined()
})
