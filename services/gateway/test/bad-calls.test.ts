import { test } from 'vitest'
import { type Case, check, ID } from './assert-response.ts'

const CHECKPOINT = `/workers/w1/checkpoint/${ID}`

const EVENT = { type: 'TASK_STARTED', source_id: 's', name: 'n', time: 't' }
const REPORT = {
  workflow_id: 'x',
  workflow_namespace: 'x',
  workflow_name: 'x',
  execution_id: ID,
  state: 'RUNNING',
}
const withDuplicate = (members: object, given: string) =>
  JSON.stringify(members).replace(/}$/, `,${given}}`)
const VALID_EVENT = { ...EVENT, id: 'i' }

/** Bodies with a duplicate member: 422 where the gateway reads it, passed through in a payload. */
const duplicates: Record<string, [path: string, body: string, expected: number]> = {
  'a state': [CHECKPOINT, withDuplicate(REPORT, '"state":"COMPLETED"'), 422],
  'the type of an event': [
    CHECKPOINT,
    withDuplicate(
      REPORT,
      `"events":[${withDuplicate(VALID_EVENT, '"type":"WORKFLOW_COMPLETED"')}]`,
    ),
    422,
  ],
  'the value of an event': [
    CHECKPOINT,
    withDuplicate(REPORT, `"events":[${withDuplicate(VALID_EVENT, '"value":{"a":1,"a":2}')}]`),
    404,
  ],
  'an output': [CHECKPOINT, withDuplicate(REPORT, '"output":{"a":1,"a":2}'), 404],
  'a task of progress': [
    `/workers/w1/progress/${ID}`,
    '[{"task_id":"a","task_id":"b","task_name":"t"}]',
    422,
  ],
  'the health of a worker': ['/workers/w1/pong', '{"healthy":true,"healthy":false}', 422],
  'a metric': ['/workers/w1/pong', '{"metrics":{"cpu":1,"cpu":2}}', 422],
  'names of secrets': [
    '/workers/w1/secrets/batch',
    `{"execution_id":"${ID}","names":[],"names":["a"]}`,
    422,
  ],
  'a part of a schedule': [
    '/schedules',
    '{"workflow_name":"a","name":"b","schedule_config":{"type":"once","type":"cron"}}',
    422,
  ],
}

test.each(
  Object.entries(duplicates).map(
    ([what, [path, body, expected]]) => [what, expected, path, body] as const,
  ),
)('a duplicate member, %s: %i', async (_, expected, path, body) =>
  check({ method: 'POST', path, body, known: !path.includes('checkpoint'), expected }),
)

const reports: Record<string, [change: unknown, expected: number]> = {
  'the required members only': [{}, 404],
  'unknown members': [{ colour: 'blue' }, 404],
  'the id in upper case': [{ execution_id: ID.toUpperCase() }, 404],
  'another id than the path': [{ execution_id: ID.replace('0', '1') }, 422],
  'no id': [{ execution_id: undefined }, 422],
  'no state': [{ state: undefined }, 422],
  'an unknown state': [{ state: 'DANCING' }, 422],
  'a state in lower case': [{ state: 'running' }, 422],
  'a state that is a number': [{ state: 1 }, 422],
  'null for a worker': [{ current_worker: null }, 422],
  'events that are no list': [{ events: 7 }, 422],
  'an event that is no object': [{ events: [1] }, 422],
  'a valid event': [{ events: [{ ...EVENT, id: 'i', value: { a: 1 }, subject: null }] }, 404],
  'an event without an id': [{ events: [EVENT] }, 404],
  'an event of an unknown type': [{ events: [{ ...EVENT, type: 'TASK_DANCED' }] }, 422],
  'an event of progress': [{ events: [{ ...EVENT, type: 'TASK_PROGRESS' }] }, 422],
  'an event without a time': [{ events: [{ ...EVENT, time: undefined }] }, 422],
  'an event with a number for a name': [{ events: [{ ...EVENT, name: 1 }] }, 422],
  'a NUL in a name': [{ events: [{ ...EVENT, name: 'a\0' }] }, 422],
  'a lone surrogate in an id': [{ events: [{ ...EVENT, id: '\ud800' }] }, 422],
  'a NUL in a value': [{ events: [{ ...EVENT, value: 'a\0' }] }, 404],
  'an id too long for an index': [{ events: [{ ...EVENT, id: 'i'.repeat(257) }] }, 422],
}

test.each(
  Object.entries(reports).map(([what, [change, expected]]) => [what, expected, change] as const),
)('a checkpoint with %s: %i', async (_, expected, change) => {
  const body = JSON.stringify({ ...REPORT, ...(change as object) })
  // Valid bodies reach the executions service, which does not know this execution: 404.
  await check({ method: 'POST', path: CHECKPOINT, body, expected })
})

const calls: Record<string, Case> = {
  'a checkpoint without a body': { path: CHECKPOINT, expected: 422 },
  'a checkpoint that is a list': { path: CHECKPOINT, body: '[]', expected: 422 },
  'a claim generation that is no number': {
    path: `/workers/w1/release/${ID}`,
    headers: { 'x-svc-claim-generation': 'abc' },
    expected: 422,
  },
  'a release until a time without an offset': {
    path: `/workers/w1/release/${ID}`,
    body: '{"wake_at":"2026-01-02T03:04:05"}',
    expected: 422,
  },
  'a release until a day that does not exist': {
    path: `/workers/w1/release/${ID}`,
    body: '{"wake_at":"2026-02-30T03:04:05Z"}',
    expected: 422,
  },
  'a release until the end of something that is no execution': {
    path: `/workers/w1/release/${ID}`,
    body: '{"wake_on":["report"]}',
    expected: 422,
  },
  'a release until the end of too many executions': {
    path: `/workers/w1/release/${ID}`,
    body: JSON.stringify({ wake_on: Array.from({ length: 257 }, () => ID) }),
    expected: 422,
  },
  'a release with a list': { path: `/workers/w1/release/${ID}`, body: '[]', expected: 422 },
  'a claim generation above 2^63 - 1': {
    path: `/workers/w1/release/${ID}`,
    headers: { 'x-flux-claim-generation': '9223372036854775808' },
    expected: 422,
  },
  'a claim under an invalid worker name': { path: `/workers/a b/claim/${ID}`, expected: 404 },
  'progress that is an object': { path: `/workers/w1/progress/${ID}`, body: '{}', expected: 422 },
  'progress without a task': {
    path: `/workers/w1/progress/${ID}`,
    body: '[{"value":1}]',
    expected: 422,
  },
  'malformed progress': { path: `/workers/w1/progress/${ID}`, body: '[{', expected: 422 },
  'a malformed pong': { path: '/workers/w1/pong', body: '{"healthy": ', expected: 422 },
  'a pong that is a list': { path: '/workers/w1/pong', body: '[]', expected: 422 },
  'a pong whose healthy is text': {
    path: '/workers/w1/pong',
    body: '{"healthy":"x"}',
    expected: 422,
  },
  'a schedule that is a list': { path: '/schedules', body: '[1]', expected: 422 },
  'a schedule that is a number': { path: '/schedules', body: '7', expected: 422 },
  'no schedule': { path: '/schedules', expected: 422 },
  'a schedule with an id': {
    path: '/schedules',
    body: '{"workflow_name":"a","name":"b","schedule_config":{},"id":"c"}',
    expected: 422,
  },
  'a schedule with the member __proto__': {
    path: '/schedules',
    body: '{"workflow_name":"a","name":"b","schedule_config":{},"__proto__":{"enabled":true}}',
    expected: 422,
  },
  'a schedule without a name': {
    path: '/schedules',
    body: '{"workflow_name":"a","schedule_config":{}}',
    expected: 422,
  },
  'a schedule with a slash in its name': {
    path: '/schedules',
    body: '{"workflow_name":"a","name":"b/c","schedule_config":{}}',
    expected: 422,
  },
  'a schedule with an invalid workflow name': {
    path: '/schedules',
    body: '{"workflow_name":"A/../b","name":"b","schedule_config":{}}',
    expected: 422,
  },
  'a schedule whose configuration is text': {
    path: '/schedules',
    body: '{"workflow_name":"a","name":"b","schedule_config":"daily"}',
    expected: 422,
  },
  'a schedule with a NUL': {
    path: '/schedules',
    body: '{"workflow_name":"a","name":"b","schedule_config":{},"description":"\\u0000"}',
    expected: 422,
  },
}

test.each(Object.entries(calls).map(([what, given]) => [what, given.expected, given] as const))(
  '%s: %i',
  async (_, __, given) => check({ method: 'POST', known: true, ...given }),
)
