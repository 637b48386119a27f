import type { Command, Result } from '@windlass/proto/windlass/executions/v1/executions'
import { recordSpans } from '@windlass/testkit/recorded-spans'
import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import { token, setup as withAuthentication } from './execution-token-fixture.ts'
import { refuse } from './executions-fake.ts'
import { startGateway } from './gateway-fixture.ts'

const OTHER = ID.replace('0', '1')
const THIRD = ID.replace('0', '2')
const PATH = '/workers/w1/checkpoints'

const checkpoint = (execution_id: string, changes = {}) => ({
  ...{ workflow_id: 'x', workflow_namespace: 'default', workflow_name: 'hello' },
  ...{ execution_id, state: 'RUNNING', events: [] },
  ...changes,
})

const item = (execution_id: string, claim_generation: unknown = 7, changes = {}) => ({
  claim_generation,
  checkpoint: checkpoint(execution_id, changes),
})

const stored = (execution_id: string): Result => ({
  body: {
    $case: 'execution',
    value: {
      execution_id,
      ...{ workflow_id: ID, workflow_namespace: 'default', workflow_name: 'hello' },
      ...{ workflow_version: 1, state: 'RUNNING', worker_name: 'w1', worker_session: '' },
      ...{ claim_generation: 7, input_json: 'null', last_seq: 1 },
      ...{ created_at: new Date(0), updated_at: new Date(0) },
    },
  },
  log: [],
})

/** A gateway whose executions store every checkpoint but those in `refused`. */
async function setup(refused: Record<string, Result> = {}) {
  const commands: Command[] = []
  const made = await startGateway({
    executions: {
      submit: async (request) => {
        commands.push(...request.commands)
        return {
          results: request.commands.map(({ execution_id: id }) => refused[id] ?? stored(id)),
        }
      },
    },
  })
  return { ...made, commands, post: (body: unknown) => made.json('POST', PATH, body) }
}

test('checkpoints of several executions: stored, each under its claim generation', async () => {
  const { post, commands } = await setup()
  const answer = await post([item(ID), item(OTHER, 12)])
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual([
    { execution_id: ID, status: 200, state: 'RUNNING' },
    { execution_id: OTHER, status: 200, state: 'RUNNING' },
  ])
  expect(commands.map(({ execution_id, body }) => [execution_id, body?.value])).toEqual([
    [ID, expect.objectContaining({ writer: holder(7), state: 'RUNNING' })],
    [OTHER, expect.objectContaining({ writer: holder(12), state: 'RUNNING' })],
  ])
})

const holder = (claim_generation: number) => ({
  worker_name: 'w1',
  session_id: '',
  claim_generation,
})

test('checkpoints with contexts: each continues its own trace, and a malformed one is ignored', async () => {
  const spans = recordSpans()
  const { post, commands } = await setup()
  const [trace, other, run] = ['a'.repeat(32), 'b'.repeat(32), 'c'.repeat(16)]
  const answer = await post([
    { ...item(ID), traceparent: `00-${trace}-${run}-01` },
    { ...item(OTHER), traceparent: `00-${other}-${run}-01` },
    { ...item(THIRD), traceparent: 'malformed' },
  ])
  expect(answer.status).toBe(200)
  const ofBatch = spans().filter(({ name }) => name === 'POST /workers/{name}/checkpoints')
  expect(ofBatch).toMatchObject([
    { parentSpanContext: { traceId: trace, spanId: run } },
    { parentSpanContext: { traceId: other, spanId: run } },
  ])
  expect(ofBatch.map((span) => span.attributes['windlass.execution_id'])).toEqual([ID, OTHER])
  expect(commands.map(({ traceparent }) => traceparent?.split('-')[1])).toEqual([
    trace,
    other,
    undefined,
  ])
})

test.each([7, null, {}])('a context that is no text, %j: 422 names it', async (traceparent) => {
  const { post, commands } = await setup()
  const answer = await post([{ ...item(ID), traceparent }])
  expect(answer.status).toBe(422)
  expect(await answer.json()).toMatchObject({ detail: [{ loc: ['body', 0, 'traceparent'] }] })
  expect(commands).toEqual([])
})

test('payloads of a batch: passed on byte for byte', async () => {
  const { call, commands } = await setup()
  const head = JSON.stringify(checkpoint(ID, { state: 'COMPLETED' })).slice(0, -1)
  const body = `[{"claim_generation":7,"checkpoint":${head},"output": 9007199254740993 }}]`
  const headers = { 'content-type': 'application/json' }
  expect((await call('POST', PATH, { body, headers })).status).toBe(200)
  expect(commands.at(-1)?.body?.value).toMatchObject({
    output_json: '9007199254740993',
  })
})

test('one is refused: its status and detail as if it were alone, the others are stored', async () => {
  const { post } = await setup({
    [OTHER]: refuse('conflict', 'stale-claim: it has another owner'),
    [THIRD]: refuse('not_found', 'Execution not found'),
  })
  expect(await (await post([item(OTHER), item(ID), item(THIRD)])).json()).toEqual([
    { execution_id: OTHER, status: 409, detail: 'stale-claim: it has another owner' },
    { execution_id: ID, status: 200, state: 'RUNNING' },
    { execution_id: THIRD, status: 404, detail: 'Execution not found' },
  ])
})

test('no checkpoints: an empty list', async () => {
  const { post, commands } = await setup()
  expect(await (await post([])).json()).toEqual([])
  expect(commands).toEqual([])
})

const MALFORMED: [name: string, body: unknown, loc: (string | number)[]][] = [
  ['no array', {}, ['body']],
  ['an element is no object', [item(ID), 1], ['body', 1]],
  ['no claim generation', [{ checkpoint: checkpoint(ID) }], ['body', 0, 'claim_generation']],
  ['a negative claim generation', [item(ID, -1)], ['body', 0, 'claim_generation']],
  ['a claim generation as text', [item(ID, '7')], ['body', 0, 'claim_generation']],
  ['a fraction', [item(ID, 7.5)], ['body', 0, 'claim_generation']],
  ['no checkpoint', [{ claim_generation: 7 }], ['body', 0, 'checkpoint']],
  [
    'an unknown state',
    [item(ID), item(OTHER, 7, { state: 'LOST' })],
    ['body', 1, 'checkpoint', 'state'],
  ],
  [
    'a malformed event',
    [item(ID, 7, { events: [{ type: 'TASK_STARTED' }] })],
    ['body', 0, 'checkpoint', 'events', 0, 'source_id'],
  ],
  ['a malformed id', [item('x')], ['body', 0, 'checkpoint', 'execution_id']],
  ['two of one execution', [item(ID), item(ID, 8)], ['body', 1, 'checkpoint', 'execution_id']],
  ['more than 256', Array.from({ length: 257 }, () => item(ID)), ['body']],
]

test.each(MALFORMED)('%s: 422 naming the place, nothing is stored', async (_, body, loc) => {
  const { post, commands } = await setup()
  const answer = await post(body)
  expect(answer.status).toBe(422)
  expect(await answer.json()).toMatchObject({ detail: [{ loc }] })
  expect(commands).toEqual([])
})

test('the execution token of one execution: 403, as it cannot act for the others', async () => {
  const { ask, executions } = await withAuthentication()
  expect((await ask(PATH, token, [item(ID)])).status).toBe(403)
  expect(executions.commands).toEqual([])
})

test('the session of another worker, or none: 403 and 401', async () => {
  const { ask, call } = await withAuthentication()
  expect((await ask(PATH, 'session-of-w2', [item(ID)])).status).toBe(403)
  expect((await call('POST', PATH)).status).toBe(401)
})
