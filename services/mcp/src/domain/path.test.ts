import { expect, test } from 'vitest'
import { executionId, namespace, path, scheduleRef, workerName, workflowName } from './path.ts'

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
  ['workflow namespace', namespace],
  ['workflow name', workflowName],
  ['worker name', workerName],
  ['execution id', executionId],
  ['schedule id', scheduleRef],
])('no %s steers a path elsewhere', (what, check) => {
  for (const text of HOSTILE)
    expect(() => check(text), JSON.stringify(text)).toThrow(`Invalid ${what} '`)
})

test('names within their grammars become one segment each', () => {
  expect(path`/workflows/${namespace('team-1')}/${workflowName('Ünïcode name.v2')}/run`).toBe(
    '/workflows/team-1/%C3%9Cn%C3%AFcode%20name.v2/run',
  )
  expect(path`/workers/${workerName('w.1_a-B')}`).toBe('/workers/w.1_a-B')
  expect(path`/schedules/${scheduleRef('every day: 5*')}`).toBe('/schedules/every%20day%3A%205*')
})

test('an execution id may have dashes and capitals', () => {
  const id = '0123456789ABCDEF0123456789abcdef'
  const dashed = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  for (const text of [id, dashed]) expect(path`/${executionId(text)}`).toBe(`/${text}`)
})

test.each(['nope', '0123', 'g'.repeat(32)])('%s is the id of no execution', (text) => {
  expect(() => executionId(text)).toThrow(`Execution '${text}' not found`)
})
