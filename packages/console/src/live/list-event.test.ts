import { expect, test } from 'vitest'
import { TOPICS, toListEvents, topicsFor } from './list-event.ts'

const frame = (event: string, data: string) => ({ event, id: '1', data })
const ALL = TOPICS.map((topic) => ({ kind: 'resync', topic }))

test.each([
  [
    'a row',
    frame('executions', '{"id":"a","revision":3,"row":{"state":"RUNNING"}}'),
    [{ kind: 'row', topic: 'executions', id: 'a', revision: 3, row: { state: 'RUNNING' } }],
  ],
  [
    'a row that has gone',
    frame('workers', '{"id":"w","revision":null,"row":null}'),
    [{ kind: 'row', topic: 'workers', id: 'w', revision: null, row: null }],
  ],
  [
    'skipped rows',
    frame('skipped', '{"topic":"executions","rows":7}'),
    [{ kind: 'skipped', topic: 'executions', rows: 7 }],
  ],
  [
    'a lost list',
    frame('resync', '{"topic":"schedules"}'),
    [{ kind: 'resync', topic: 'schedules' }],
  ],
  ['the beginning', frame('ready', '{"topics":["executions"]}'), []],
  ['the end', frame('access_denied', '{"detail":"no"}'), ALL],
  ['a topic of a later release', frame('cells', '{"id":"a","row":{}}'), []],
])('%s: its events', (_, given, events) => {
  expect(toListEvents(given)).toEqual(events)
})

test.each([
  frame('executions', '{"id":"a","rev{"id":"a"'),
  frame('executions', '{"id":"a","row":1}\n{"id":"a","row":1}'),
  frame('executions', '[]'),
  frame('executions', 'null'),
  frame('skipped', '{"topic":"cells","rows":1}'),
  frame('resync', '{}'),
])('a frame that is garbled, as %j: every list is to be read', (given) => {
  expect(toListEvents(given)).toEqual(ALL)
})

test.each([
  [['*'], [...TOPICS]],
  [['*:*:*:*'], [...TOPICS]],
  [[], ['workers']],
  [['execution:*:read'], ['executions', 'workers']],
  [
    ['execution:team:order:read', 'workflow:team:order:run'],
    ['executions', 'workers'],
  ],
  [
    ['workflow:*:*:read', 'schedule:*'],
    ['workers', 'schedules', 'approvals'],
  ],
])('a caller with %j: follows %j', (permissions, topics) => {
  expect(topicsFor(permissions)).toEqual(topics)
})
