import type { SearchRequest, SearchResponse } from '@windlass/proto/windlass/executions/v1/history'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { ID, RUN } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
const AT = new Date('2026-01-02T03:04:05.678Z')
const AT_TEXT = '2026-01-02T03:04:05.678Z'

const ROW: SearchResponse['rows'][number] = {
  ...{ execution_id: ID, workflow_id: ID, workflow_namespace: 'team', workflow_name: 'order' },
  ...{ workflow_version: 2, state: 'FAILED', worker_name: 'w1', created_at: AT, updated_at: AT },
  ...{ queued_at: undefined, started_at: AT, finished_at: AT, attempts: 1, created_by: 'ann' },
  ...{ schedule_id: '', parent_id: ID, input_bytes: 12, output_bytes: undefined },
  ...{ error: 'ValueError: no stock', tags: { order: '7' }, revision: 9, last_seq: 4 },
}

const VIEW = {
  ...{ execution_id: ID, workflow_id: ID, workflow_namespace: 'team', workflow_name: 'order' },
  ...{ state: 'FAILED', worker_name: 'w1', created_at: AT_TEXT, updated_at: AT_TEXT },
  ...{ workflow_version: 2, queued_at: null, started_at: AT_TEXT, finished_at: AT_TEXT },
  ...{ attempts: 1, created_by: 'ann', schedule_id: null, parent_id: ID, input_bytes: 12 },
  ...{ origin_id: null, origin_seq: null },
  ...{ output_bytes: null, error: 'ValueError: no stock', tags: { order: '7' }, revision: 9 },
}

async function setup({ permissions = ['*'], page = {} as Partial<SearchResponse> } = {}) {
  const requests: SearchRequest[] = []
  const principal = serviceAccount()
  const { call, json, executions } = await startGateway(
    {
      keys: { find: async () => ({ account: { principal, permissions }, expires_at: undefined }) },
      history: {
        async search(request) {
          requests.push(request)
          if (request.cursor === 'wrong') throw new Fault('invalid', 'The cursor is malformed.')
          const none = { rows: [ROW], total: 1, total_exact: true, next_cursor: '', cut: false }
          return { ...none, ...page }
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const headers = { authorization: `Bearer ${KEY}` }
  const get = async (path: string) => {
    const response = await call('GET', path, { headers })
    return { status: response.status, body: (await response.json()) as Answer }
  }
  return { get, requests, json, headers, executions }
}

interface Answer {
  executions?: unknown[]
  detail?: string | { loc: unknown[]; msg: string }[]
}

test('GET /executions: rows with times, sizes, origin, error and tags, and the place of the next page', async () => {
  const { get, requests } = await setup({
    page: { next_cursor: 'n', cut: true, total_exact: false },
  })
  expect(await get('/executions')).toEqual({
    status: 200,
    body: {
      ...{ executions: [VIEW], total: 1, total_exact: false },
      ...{ limit: 50, offset: 0, next_cursor: 'n', cut: true },
    },
  })
  expect(requests[0]).toMatchObject({
    ...{ states: [], by_finish: false, ascending: false, cursor: '', limit: 50, tags: {} },
    visible: { all: true },
  })
})

const QUERIES: [query: string, request: Partial<SearchRequest>][] = [
  ['state=failed,Running', { states: ['FAILED', 'RUNNING'] }],
  ['state=failed,completed&exclude_state=failed', { states: ['COMPLETED'] }],
  ['state=failed&exclude_state=failed', { states: ['CREATED'] }],
  ['namespace=team&workflow_name=order&version=3', { workflow_version: 3 }],
  [`schedule_id=${ID}`, { schedule_id: ID }],
  [`parent_id=${ID.toUpperCase()}`, { parent_id: ID }],
  ['worker_name=w1&created_by=ann', { worker_name: 'w1', created_by: 'ann' }],
  [`created_after=${AT_TEXT}`, { created_after: AT, by_finish: false }],
  ['created_before=2026-01-02T05:04:05.678%2B02:00', { created_before: AT }],
  [`finished_after=${AT_TEXT}`, { finished_after: AT, by_finish: true, ascending: false }],
  [`finished_before=${AT_TEXT}&sort=created`, { by_finish: false, ascending: true }],
  ['sort=finished', { by_finish: true, ascending: true }],
  ['workflow_name=a&min_duration=1.5&max_duration=60', { min_duration: 1.5, max_duration: 60 }],
  ['id=0A1B2C3D-4e5f', { id_prefix: '0a1b2c3d4e5f' }],
  ['workflow_name=a&error=no%20stock', { error: 'no stock' }],
  ['tags=order=7,env=a=b', { tags: { order: '7', env: 'a=b' } }],
  [
    'workflow_name=a&payload=input.order.id=A=1',
    { payload: { output: false, path: ['order', 'id'], value: 'A=1' } },
  ],
  ['tags=a=&payload=output.0=', { payload: { output: true, path: ['0'], value: '' } }],
  ['cursor=abc&limit=7', { cursor: 'abc', limit: 7 }],
]

test('GET /executions: each filter reaches the search', async () => {
  const { get, requests } = await setup()
  for (const [query, request] of QUERIES) {
    expect((await get(`/executions?${query}`)).status, query).toBe(200)
    expect(requests.at(-1), query).toMatchObject(request)
  }
})

const WRONG: [query: string, status: number, at?: string][] = [
  ['state=lost', 400],
  ['state=failed,', 400],
  ['exclude_state=lost', 400],
  ['cursor=wrong', 400],
  ['version=0', 422, 'version'],
  ['version=2', 422, 'version'],
  ['error=x', 422, 'error'],
  ['payload=input.a=1', 422, 'payload'],
  ['min_duration=1', 422, 'min_duration'],
  ['max_duration=1', 422, 'max_duration'],
  ['workflow_name=a&payload=x', 422, 'payload'],
  ['workflow_name=a&payload=input.=1', 422, 'payload'],
  ['workflow_name=a&payload=input..a=1', 422, 'payload'],
  ['workflow_name=a&min_duration=-1', 422, 'min_duration'],
  ['workflow_name=a&max_duration=1e9', 422, 'max_duration'],
  ['schedule_id=x', 422, 'schedule_id'],
  ['parent_id=1', 422, 'parent_id'],
  ['id=1234567', 422, 'id'],
  ['id=1234567g', 422, 'id'],
  ['created_after=yesterday', 422, 'created_after'],
  ['created_before=2026-01-02T03:04:05', 422, 'created_before'],
  ['finished_after=', 422, 'finished_after'],
  ['finished_before=2026-13-01T00:00:00Z', 422, 'finished_before'],
  ['tags=a', 422, 'tags'],
  ['tags=a=1,a=2', 422, 'tags'],
  ['tags=__proto__=1', 422, 'tags'],
  [`tags=a=${'x'.repeat(129)}`, 422, 'tags'],
  ['sort=worker', 422, 'sort'],
  ['cursor=abc&offset=1', 422, 'offset'],
  ['worker_name=a%00', 422, 'worker_name'],
  ['state=failed&state=running', 422, 'state'],
]

test('GET /executions with a wrong filter: refused with its name, or with the valid states', async () => {
  const { get, requests } = await setup()
  for (const [query, status, at] of WRONG) {
    const { status: found, body } = await get(`/executions?${query}`)
    expect(found, query).toBe(status)
    if (at) expect(body.detail?.[0], query).toMatchObject({ loc: ['query', at] })
  }
  expect(requests.filter(({ cursor }) => cursor !== 'wrong')).toEqual([])
})

test('GET /executions with a filter without an index: 422 that names those that must accompany it', async () => {
  const { get } = await setup()
  expect((await get('/executions?payload=input.a=1')).body.detail).toEqual([
    {
      loc: ['query', 'payload'],
      msg: 'has no index: filter by workflow_name or schedule_id or parent_id or tags, too',
      type: 'missing_filter',
    },
  ])
})

test('GET /executions of a caller with one namespace: the search gets what the caller may read', async () => {
  const { get, requests } = await setup({ permissions: ['execution:team:*:read'] })
  await get(`/executions?id=${ID}`)
  const workflows = [{ namespace: 'team', name: '*' }]
  expect(requests[0]?.visible).toEqual({ all: false, workflows, ids: [] })
})

test('GET /workflows/.../executions: the filters, within the workflow', async () => {
  const { get, requests } = await setup({ permissions: ['workflow:team:order:read'] })
  const { status } = await get('/workflows/team/order/executions?version=2&payload=input.a=1')
  expect([status, requests[0]]).toMatchObject([
    200,
    {
      ...{ workflow_namespace: 'team', workflow_name: 'order', workflow_version: 2 },
      visible: { all: false, workflows: [{ namespace: 'team', name: 'order' }] },
    },
  ])
})

test('POST .../run with tags: they reach the create; malformed ones are 422', async () => {
  const { json, headers, executions } = await setup()
  const ok = await json('POST', `${RUN}?tags=order=7,env=prod`, 1, headers)
  expect(ok.status).toBe(200)
  expect(executions.commands.at(-1)?.body).toMatchObject({
    value: { tags: { order: '7', env: 'prod' } },
  })
  const many = Array.from({ length: 17 }, (_, i) => `k${i}=v`).join()
  for (const tags of ['x', '=1', 'a=1,a=2', many, 'a=%00'])
    expect((await json('POST', `${RUN}?tags=${tags}`, 1, headers)).status, tags).toBe(422)
})

test('executions of an earlier release: plain filters are answered, others 503', async () => {
  const { call, json } = await startGateway()
  await json('POST', RUN, 1)
  const plain = await call('GET', '/executions?state=scheduled')
  expect(await plain.json()).toMatchObject({
    total: 1,
    total_exact: true,
    next_cursor: null,
    cut: false,
  })
  const wrong = await call('GET', '/executions?worker_name=w1')
  expect(wrong.status).toBe(503)
})
