import { expect, test } from 'vitest'
import { TimelineBuilder } from './timeline.ts'

const BASE = new Date('2026-01-02T03:04:05.000Z')
const at = (ms: number) => new Date(BASE.getTime() + ms).toISOString()

/** Another hash than the real one, which tests of the service use: 12 hexadecimal digits of a text. */
function hash(text: string): string {
  let value = 7
  for (const char of text) value = (value * 31 + (char.codePointAt(0) ?? 0)) % 2 ** 40
  return value.toString(16).padStart(12, '0').repeat(5)
}

type Line = [type: string, name: string, ms: number, source_id?: string, is_cached?: boolean]

function timelineOf(lines: Line[], state = 'RUNNING') {
  const builder = new TimelineBuilder(BASE, hash)
  for (const [i, [type, name, ms, source_id = name, is_cached = false]] of lines.entries())
    builder.add({ seq: i + 1, type, name, source_id, time: at(ms), is_cached })
  return builder.build({ state, last_seq: lines.length }, false)
}

test('a run that is paused, resumed and loses a worker: an attempt for each lease, with its times and end', () => {
  const { attempts } = timelineOf(
    [
      ['WORKFLOW_SCHEDULED', 'w1', 5],
      ['WORKFLOW_CLAIMED', 'w1', 6],
      ['WORKFLOW_STARTED', 'order', 7],
      ['WORKFLOW_PAUSED', 'order', 10],
      ['WORKFLOW_RESUMING', 'order', 20],
      ['WORKFLOW_RESUME_SCHEDULED', 'w1', 21],
      ['WORKFLOW_RESUME_CLAIMED', 'w1', 22],
      ['WORKFLOW_SCHEDULED', 'w2', 40],
      ['WORKFLOW_CLAIMED', 'w2', 41],
      ['WORKFLOW_COMPLETED', 'order', 50],
    ],
    'COMPLETED',
  )
  expect(attempts).toEqual([
    {
      worker: 'w1',
      seq: 1,
      queued: 0,
      scheduled: 5,
      claimed: 6,
      started: 7,
      ended: 10,
      end: 'paused',
    },
    {
      worker: 'w1',
      seq: 6,
      queued: 20,
      scheduled: 21,
      claimed: 22,
      started: null,
      ended: null,
      end: 'lost',
    },
    {
      worker: 'w2',
      seq: 8,
      queued: null,
      scheduled: 40,
      claimed: 41,
      started: null,
      ended: 50,
      end: 'completed',
    },
  ])
})

test('calls: columns of starts, durations, states, tries and rollbacks', () => {
  const { tasks, calls } = timelineOf([
    ['TASK_STARTED', 'fetch', 10, 'fetch_1'],
    ['TASK_STARTED', 'store', 12, 'store_1'],
    ['TASK_RETRY_STARTED', 'fetch', 20, 'fetch_1'],
    ['TASK_RETRY_STARTED', 'fetch', 30, 'fetch_1'],
    ['TASK_COMPLETED', 'fetch', 35, 'fetch_1'],
    ['TASK_ROLLBACK_STARTED', 'store', 40, 'store_1'],
    ['TASK_ROLLBACK_COMPLETED', 'store', 41, 'store_1'],
    ['TASK_FAILED', 'store', 42, 'store_1'],
    ['TASK_COMPLETED', 'fetch', 43, 'fetch_2'],
    ['TASK_AWAITING_APPROVAL', 'ship', 44, 'ship_1'],
    ['TASK_STARTED', 'wait', 50, 'wait_1'],
    ['TASK_PAUSED', 'wait', 51, 'wait_1'],
    ['TASK_STARTED', 'last', 60, 'last_1'],
  ])
  expect(tasks).toEqual(['fetch', 'store', 'ship', 'wait', 'last'])
  expect(calls).toEqual({
    task: [0, 1, 0, 2, 3, 4],
    seq: [1, 1, 7, 1, 1, 2],
    start: [10, 2, 31, 1, 6, 10],
    duration: [25, 30, 0, -1, -1, -1],
    state: 'cfcapr',
    tries: [[0, 3]],
    retries: [[0, 10, 0, 10, 0]],
    cached: [2],
    fallback: [],
    rollback: [[1, 28, 1]],
    compensated: [1],
    compensating: [],
    parent: [],
  })
})

test('tries of a call: where each ended and the next began; the last one that failed has none', () => {
  const { calls } = timelineOf([
    ['TASK_STARTED', 'fetch', 10],
    ['TASK_RETRY_FAILED', 'fetch', 15],
    ['TASK_RETRY_STARTED', 'fetch', 25],
    ['TASK_RETRY_FAILED', 'fetch', 27],
    ['TASK_FALLBACK_STARTED', 'fetch', 28],
    ['TASK_ROLLBACK_STARTED', 'fetch', 30],
    ['TASK_ROLLBACK_FAILED', 'fetch', 34],
    ['TASK_FAILED', 'fetch', 35],
  ])
  expect(calls).toMatchObject({
    ...{ tries: [[0, 2]], retries: [[0, 5, 10, 2]], fallback: [0] },
    ...{ rollback: [[0, 20, 4]], compensated: [] },
  })
})

test('a result that a cache had: its call is listed, with the time that the search took', () => {
  const { calls } = timelineOf([
    ['TASK_STARTED', 'fetch', 10, 'fetch_1'],
    ['TASK_COMPLETED', 'fetch', 13, 'fetch_1', true],
    ['TASK_STARTED', 'fetch', 20, 'fetch_2'],
    ['TASK_COMPLETED', 'fetch', 90, 'fetch_2'],
  ])
  expect(calls).toMatchObject({ duration: [3, 70], state: 'cc', cached: [0] })
})

/** Ids as the Python SDK makes them: the scope of a call is the hash of its path. */
const scoped = (name: string, path: string, end = '') =>
  `${name}_0123456789abcdef@${hash(path).slice(0, 12)}${end}`

test('calls within calls, retries and branches: their parents; calls of a saga: as compensating', () => {
  const top = 'outer_0123456789abcdef'
  const both = 'parallel_0123456789abcdef'
  const { calls } = timelineOf([
    ['TASK_STARTED', 'outer', 1, top],
    ['TASK_STARTED', 'inner', 2, scoped('inner', top)],
    ['TASK_RETRY_STARTED', 'outer', 3, top],
    ['TASK_STARTED', 'inner', 4, scoped('inner', `${top}~retry1`, '#2')],
    ['TASK_STARTED', 'deep', 5, scoped('deep', scoped('inner', top))],
    ['TASK_STARTED', 'parallel', 6, both],
    ['TASK_STARTED', 'inner', 7, scoped('inner', `${both}[3]`)],
    ['TASK_STARTED', 'undo', 8, scoped('undo', 'saga')],
    ['TASK_STARTED', 'inner', 9, scoped('inner', 'a path that no call has')],
  ])
  expect(calls).toMatchObject({
    parent: [
      [1, 0],
      [2, 0],
      [3, 1],
      [5, 4],
    ],
    compensating: [6],
  })
})

test('a time without an offset: UTC; a text that is no time: the begin', () => {
  const builder = new TimelineBuilder(BASE, hash)
  const event = { type: 'TASK_STARTED', name: 't', seq: 1 }
  builder.add({ ...event, source_id: 'a', time: '2026-01-02T03:04:06.000006' })
  builder.add({ ...event, source_id: 'b', time: '2026-01-02T05:04:07+02:00' })
  builder.add({ ...event, source_id: 'c', time: 'soon' })
  expect(builder.build({ state: 'RUNNING', last_seq: 3 }, false).calls.start).toEqual([
    1_000, 1_000, -2_000,
  ])
})

const taskOf = (i: number) => `task ${i % 20}`

test('100,000 events: at most 1.5 MB of JSON, also with a scope or a retry for each call', () => {
  const lines: Line[] = Array.from({ length: 50_000 }, (_, i): Line[] => [
    ['TASK_STARTED', taskOf(i), i * 97, `call ${i}`],
    ['TASK_COMPLETED', taskOf(i), i * 97 + 12_345 + (i % 1_000), `call ${i}`],
  ]).flat()
  expect(JSON.stringify(timelineOf(lines)).length).toBeLessThan(1_500_000)
  const id = (i: number) => scoped('inner', 'outer', `#${i}`)
  const retried: Line[] = Array.from({ length: 25_000 }, (_, i): Line[] => [
    ['TASK_STARTED', taskOf(i), i * 97, i === 0 ? 'outer' : id(i)],
    ['TASK_RETRY_FAILED', taskOf(i), i * 97 + 1_234, i === 0 ? 'outer' : id(i)],
    ['TASK_RETRY_STARTED', taskOf(i), i * 97 + 5_678, i === 0 ? 'outer' : id(i)],
    ['TASK_COMPLETED', taskOf(i), i * 97 + 12_345, i === 0 ? 'outer' : id(i)],
  ]).flat()
  const view = timelineOf(retried)
  expect(view.calls.parent.length).toBe(24_999)
  expect(JSON.stringify(view).length).toBeLessThan(1_500_000)
})

test('a fork: calls that it begins with are cached at its start, and its first attempt is queued then', () => {
  const { attempts, calls } = timelineOf([
    ['TASK_STARTED', 'a', -9_000],
    ['TASK_COMPLETED', 'a', -8_000],
    ['WORKFLOW_PAUSED', 'order', -7_000],
    ['WORKFLOW_RESUMING', 'order', -6_000],
    ['WORKFLOW_SCHEDULED', 'w1', 5],
    ['TASK_STARTED', 'b', 6],
  ])
  expect(attempts).toMatchObject([{ queued: 0, scheduled: 5, end: null }])
  expect(calls).toMatchObject({ start: [0, 6], duration: [0, -1], state: 'cr', cached: [0] })
})
