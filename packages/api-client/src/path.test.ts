import { expect, test } from 'vitest'
import {
  path,
  toCallId,
  toExecutionId,
  toNamespace,
  toScheduleRef,
  toSubject,
  toWorkerName,
  toWorkflowName,
} from './path.ts'

const HOSTILE = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2E',
  '../admin',
  'a/b',
  'a\\b',
  '?x=',
  '#',
  'x?version=1',
  'x#y',
  'a\nb',
  'a\0',
  '\u202e',
  '\ud800',
  'x'.repeat(256),
]

test.each([
  ['workflow namespace', toNamespace],
  ['workflow name', toWorkflowName],
  ['worker name', toWorkerName],
  ['execution id', toExecutionId],
  ['schedule id', toScheduleRef],
])('%s with characters of paths and queries: refused', (what, check) => {
  for (const text of HOSTILE)
    expect(() => check(text), JSON.stringify(text)).toThrow(`Invalid ${what} '`)
})

test('names within their grammars: one encoded segment each', () => {
  expect(path`/workflows/${toNamespace('team-1')}/${toWorkflowName('Ünïcode name.v2')}/run`).toBe(
    '/workflows/team-1/%C3%9Cn%C3%AFcode%20name.v2/run',
  )
  expect(path`/workers/${toWorkerName('w.1_a-B')}`).toBe('/workers/w.1_a-B')
  expect(path`/schedules/${toScheduleRef('every day: 5*')}`).toBe('/schedules/every%20day%3A%205*')
})

test('execution ids with dashes and capitals: accepted', () => {
  const id = '0123456789ABCDEF0123456789abcdef'
  const dashed = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  for (const text of [id, dashed]) expect(path`/${toExecutionId(text)}`).toBe(`/${text}`)
})

test.each(['nope', '0123', 'g'.repeat(32)])(
  '%s is not an id: the execution is not found',
  (text) => {
    expect(() => toExecutionId(text)).toThrow(`Execution '${text}' not found`)
  },
)

test('subjects and ids of calls: sent as they are, not normalized; half a character is refused', () => {
  const decomposed = 'u\u0308/1'
  for (const check of [toSubject, toCallId]) {
    expect(path`/${check(decomposed)}`).toBe(`/${encodeURIComponent(decomposed)}`)
    for (const text of ['', '.', '..', 'a\n', '\ud800'])
      expect(() => check(text), JSON.stringify(text)).toThrow('Invalid ')
  }
})
