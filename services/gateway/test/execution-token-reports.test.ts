import { ExecutionTokens } from '@windlass/domain/execution-tokens'
import type { UseEntriesRequest } from '@windlass/proto/windlass/identity/v1/secrets'
import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import { held, OTHER, SECRET, setup, token } from './execution-token-fixture.ts'

const report = {
  ...{ workflow_id: 'x', workflow_namespace: 'default', workflow_name: 'parent' },
  ...{ execution_id: ID, state: 'RUNNING', events: [] },
}
const QUESTION = { task_call_id: 'c', task_name: 'pay' }
const CONFIGS = '/admin/configs/batch'
const SECRETS = { execution_id: ID, names: [] }

/** The routes of a worker that concern one execution. */
const ROUTES: [name: string, path: (worker: string, id: string) => string, body: unknown][] = [
  ['checkpoint', (worker, id) => `/workers/${worker}/checkpoint/${id}`, report],
  ['progress', (worker, id) => `/workers/${worker}/progress/${id}`, []],
  ['logs', (worker, id) => `/workers/${worker}/logs/${id}`, { first: 0, lines: [] }],
  ['release', (worker, id) => `/workers/${worker}/release/${id}`, undefined],
  ['approvals', (worker, id) => `/workers/${worker}/approvals/${id}`, QUESTION],
]

const approvals = { request: async () => ({ status: 'created' }) }
const capturedLines = { append: async () => ({ last_seq: 0 }) }
const secrets = { use: async () => ({ entries: [] }) }

test.each(ROUTES)(
  '%s with the execution token: accepted under its claim',
  async (_, path, body) => {
    const { ask, executions } = await setup({}, { approvals, capturedLines })
    expect((await ask(path('w1', ID), token, body)).status).toBe(200)
    const { body: command } = executions.commands.at(-1) ?? {}
    if (command)
      expect(command.value).toMatchObject({
        writer: { worker_name: 'w1', session_id: '', claim_generation: 7 },
      })
  },
)

test('secrets with the execution token: only those of its execution', async () => {
  const { ask } = await setup({}, { secrets })
  expect((await ask('/workers/w1/secrets/batch', token, SECRETS)).status).toBe(200)
  const foreign = { ...SECRETS, execution_id: OTHER }
  expect((await ask('/workers/w1/secrets/batch', token, foreign)).status).toBe(403)
})

test('configs with the execution token: for its execution only, under its claim', async () => {
  const uses: UseEntriesRequest[] = []
  const configs = {
    use: async (request: UseEntriesRequest) => {
      uses.push(request)
      return { entries: [{ name: 'a', value_json: '1' }] }
    },
  }
  const { ask, call, executions } = await setup({}, { configs })
  expect(await ask(CONFIGS, token, ['a'])).toEqual({ status: 200, body: { a: 1 } })
  expect(uses).toMatchObject([{ names: ['a'], worker_name: 'w1', execution_id: ID }])
  expect(executions.commands.at(-1)?.body?.value).toMatchObject({
    writer: { worker_name: 'w1', session_id: '', claim_generation: 7 },
  })
  const foreign = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'x-svc-execution-id': OTHER,
  }
  const refused = await call('POST', CONFIGS, { headers: foreign, body: '["a"]' })
  expect(refused.status).toBe(403)
  const forged = new ExecutionTokens('another secret', 3_600).mint(held)
  expect((await ask(CONFIGS, forged, ['a'])).status).toBe(401)
  expect(uses).toHaveLength(1)
})

test.each(ROUTES)(
  '%s with the token of another execution, worker or claim: refused',
  async (_, path, body) => {
    const { ask, call, executions } = await setup({}, { approvals })
    const foreign = body === report ? { ...report, execution_id: OTHER } : body
    expect((await ask(path('w1', OTHER), token, foreign)).status).toBe(403)
    expect((await ask(path('w2', ID), token, body)).status).toBe(403)
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-svc-claim-generation': '8',
    }
    const other = await call('POST', path('w1', ID), { headers, body: JSON.stringify(body) })
    expect(other.status).toBe(403)
    const forged = new ExecutionTokens('another secret', 3_600).mint(held)
    expect((await ask(path('w1', ID), forged, body)).status).toBe(401)
    const expired = new ExecutionTokens(SECRET, -100_000).mint(held)
    expect((await ask(path('w1', ID), expired, body)).status).toBe(401)
    expect(executions.commands).toEqual([])
  },
)

test.each([
  ['GET', `/workers/w1/connect`],
  ['POST', '/workers/w1/pong'],
  ['POST', `/workers/w1/claim/${ID}`],
])('%s %s with the execution token: refused', async (method, path) => {
  const { ask } = await setup()
  expect((await ask(path, token, undefined, method)).status).toBe(403)
})

test('a principal that was disabled meanwhile: its execution still reports', async () => {
  const { ask } = await setup({ isEnabled: false })
  expect((await ask(`/workers/w1/checkpoint/${ID}`, token, report)).status).toBe(200)
})
