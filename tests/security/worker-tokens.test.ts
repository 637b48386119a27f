import { workerRecord } from '@windlass/testkit/worker-record'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { idleWorker } from './idle-worker.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), {
    replicas: { gateway: 2, dispatcher: 2 },
  })
  for (const namespace of ['a', 'b'])
    expect((await auth.upload(workflowSource(namespace, 'w'))).status).toBe(200)
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

/** Creates a worker token with these restrictions. */
async function workerToken(name: string, restrictions: object, more = {}): Promise<string> {
  const body = { name, restrictions, ...more }
  const { token = '' } = (await auth.requestOk('POST /admin/worker-tokens', { body })) as {
    token?: string
  }
  return token
}

const register = (token: string, name: string, record = {}) =>
  auth.request('POST /workers/register', {
    token,
    body: { ...workerRecord(name, { capacity: 1 }), ...record },
  })

const run = async (namespace: string) => {
  const { execution_id = '' } = await auth.requestOk(`POST /workflows/${namespace}/w/run/async`, {
    body: null,
  })
  return execution_id
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 1_500))

/** Requests of a worker for an execution, with valid bodies. */
const REQUESTS: [route: (id: string) => string, body?: (execution_id: string) => unknown][] = [
  [(id) => `claim/${id}`],
  [
    (id) => `checkpoint/${id}`,
    (execution_id) => ({
      ...{ execution_id, workflow_id: execution_id, workflow_namespace: 'b', workflow_name: 'w' },
      ...{ state: 'RUNNING', events: [] },
    }),
  ],
  [(id) => `release/${id}`],
  [(id) => `progress/${id}`, () => []],
  [(id) => `logs/${id}`, () => ({ first: 0, lines: [] })],
  [(id) => `approvals/${id}`, () => ({ task_call_id: 't_1', task_name: 't' })],
  [() => 'secrets/batch', (execution_id) => ({ execution_id, names: [] })],
  [(id) => `nested/${id}/${id}/cancel`],
]

test('a worker of one namespace: receives no execution of another, and does not learn that it exists', async () => {
  const token = await workerToken('only-a', { namespaces: ['a'] })
  const worker = await idleWorker(auth, 'bound', {}, token)
  teardown.push(() => worker.disconnect())
  const [foreign, own] = [await run('b'), await run('a')]
  await worker.claim(own)
  await settle()
  expect([...worker.frames.keys()]).toEqual([own])
  const unknown = '1'.repeat(32)
  for (const [route, body] of REQUESTS) {
    const ask = (id: string) => worker.call(route(id), body?.(id))
    const [hidden, absent] = [await ask(foreign), await ask(unknown)]
    expect(hidden.status, route(foreign)).toBe(404)
    expect(hidden.text.replaceAll(foreign, unknown)).toBe(absent.text)
  }
  expect((await worker.call(`claim/${own}`)).status).toBe(200)
})

test.each<[what: string, restrictions: object, record: object, field: string]>([
  ['another name', { name_prefix: 'x-' }, {}, 'name'],
  ['a label', { labels: { pool: ['a'] } }, { labels: { pool: 'b' } }, 'labels.pool'],
  [
    'more capacity',
    { limits: { max_concurrent_executions: 1 } },
    { max_concurrent_executions: 2 },
    'max_concurrent_executions',
  ],
])(
  'a registration with %s beyond its token: 403 names the field',
  async (what, restrictions, record, field) => {
    const token = await workerToken(what.replaceAll(' ', '-'), restrictions)
    const refused = await register(token, 'claims', record)
    expect(refused.status).toBe(403)
    expect(refused.text).toContain(`'${field}'`)
  },
)

test('a renewal with the session token: bound by the same restrictions', async () => {
  const token = await workerToken('renewed', { labels: { pool: ['a'] } })
  const first = await register(token, 'renews', { instance: 'i', labels: { pool: 'a' } })
  expect(first.status, first.text).toBe(200)
  const { session_token = '' } = JSON.parse(first.text) as { session_token?: string }
  const renewed = await register(session_token, 'renews', { instance: 'i', labels: { pool: 'b' } })
  expect(renewed.status).toBe(403)
  expect(renewed.text).toContain("'labels.pool'")
})

test('a worker token: opens no other route', async () => {
  const token = await workerToken('elsewhere', {})
  for (const what of ['GET /workers', 'GET /admin/worker-tokens', 'GET /workers/w/connect'])
    expect((await auth.request(what, { token })).status, what).toBe(401)
})

test.each([0, 1])(
  'the session of a worker is ended: refused at gateway %i at once',
  async (gateway) => {
    const worker = await idleWorker(auth, `ended-${gateway}`)
    const read = () =>
      auth.request(`POST /workers/${worker.name}/pong`, { token: worker.token }, gateway)
    expect((await read()).status).toBe(200)
    await auth.requestOk(`DELETE /workers/${worker.name}/session`)
    expect((await read()).status).toBe(401)
    await worker.closed
  },
)

test('a revoked token: ends the sessions of its workers', async () => {
  const token = await workerToken('revoked', {})
  const worker = await idleWorker(auth, 'leaves', {}, token)
  await auth.requestOk('DELETE /admin/worker-tokens/revoked')
  await worker.closed
  expect((await worker.call('pong')).status).toBe(401)
  expect((await register(token, 'another')).status).toBe(403)
})
