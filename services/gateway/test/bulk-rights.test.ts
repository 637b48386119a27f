import type { ExecutionRow } from '@windlass/proto/windlass/executions/v1/history'
import { invalidateCaches } from '@windlass/runtime/cache-generation'
import { openRedis } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway, workflow } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const bearerOf = (digit: string) => ({
  authorization: `Bearer wk_${digit.repeat(16)}.${'A'.repeat(43)}`,
})
const LIMITED = ['execution:default:*:read', 'workflow:default:mine:run']

const rowOf = (execution_id: string, workflow_name: string): ExecutionRow => ({
  ...{ execution_id, workflow_id: '0'.repeat(32), workflow_namespace: 'default', workflow_name },
  ...{ state: 'RUNNING', workflow_version: 1, worker_name: '', created_by: '', attempts: 1 },
  ...{ schedule_id: '', parent_id: '', tags: {}, revision: 3, last_seq: 9 },
  ...{ created_at: new Date(0), updated_at: new Date(0), queued_at: undefined },
  ...{ started_at: undefined, finished_at: undefined },
})

test('a bulk act on workflows that the caller may read but not run: counted, and left as they are', async () => {
  let rows: ExecutionRow[] = []
  const { json, executions } = await startGateway(
    {
      keys: {
        // The first digit of a key names its rights: an account is cached under its key.
        find: async ({ prefix }) => ({
          account: {
            principal: serviceAccount(),
            permissions: prefix.startsWith('wk_0') ? ['*'] : LIMITED,
          },
          expires_at: undefined,
        }),
      },
      catalog: { resolve: async ({ name }) => workflow({ name }) },
      history: {
        search: async () => ({
          ...{ rows, total: rows.length, total_exact: true, next_cursor: '', cut: false },
        }),
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  for (const name of ['mine', 'theirs']) {
    await json('POST', `/workflows/default/${name}/run/async`, 1, bearerOf('0'))
    rows = [...rows, rowOf(executions.last, name)]
  }
  const [mine, theirs] = rows.map(({ execution_id }) => execution_id)
  const before = executions.commands.length
  const bulk = (body: object) =>
    json('POST', '/executions/bulk', { filter: { namespace: 'default' }, ...body }, bearerOf('1'))
  const preview = await bulk({ action: 'cancel', dry_run: true })
  expect(await preview.json()).toMatchObject({ count: 2, forbidden: 1 })
  const text = await (await bulk({ action: 'cancel', expect: 2 })).text()
  const end = JSON.parse(/event: end\ndata: (.*)/.exec(text)?.[1] ?? '{}')
  expect(end).toMatchObject({
    ...{ total: 2, done: 1, failed: 1 },
    failures: [{ execution_id: theirs, reason: 'Authorization denied' }],
  })
  const changed = executions.commands.slice(before)
  expect(changed.map(({ execution_id }) => execution_id)).toEqual([mine])
})

test('a caller loses its rights after its client has left: the act stops, the rest stays unchanged', async () => {
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  let rows: ExecutionRow[] = []
  let permissions = ['*']
  let findsAfter = 0
  const gateway = await startGateway(
    {
      keys: {
        async find() {
          if (permissions.length === 0) findsAfter++
          return { account: { principal: serviceAccount(), permissions }, expires_at: undefined }
        },
      },
      catalog: { resolve: async ({ name }) => workflow({ name }) },
      history: {
        search: async () => ({
          ...{ rows, total: rows.length, total_exact: true, next_cursor: '', cut: false },
        }),
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true', SVC_WORKERS__HEARTBEAT_INTERVAL: '0.2' },
  )
  const { call, json, executions } = gateway
  for (let i = 0; i < 60; i++) {
    await json('POST', '/workflows/default/mine/run/async', 1, bearerOf('0'))
    rows = [...rows, rowOf(executions.last, 'mine')]
  }
  const before = executions.commands.length
  let release = () => {}
  executions.held = new Promise<void>((resolve) => {
    release = resolve
  })
  const leaving = new AbortController()
  const { body } = await call('POST', '/executions/bulk', {
    body: JSON.stringify({ filter: { namespace: 'default' }, action: 'cancel', expect: 60 }),
    headers: { 'content-type': 'application/json', ...bearerOf('0') },
    signal: leaving.signal,
  })
  const first = await body?.getReader().read()
  const id = /"id":"([0-9a-f]{32})"/.exec(new TextDecoder().decode(first?.value))?.[1]
  leaving.abort()
  permissions = []
  await invalidateCaches(redis, 'auth')
  await expect.poll(() => findsAfter).toBeGreaterThan(0)
  // The gateway decides on what it has just read before the first changes are answered.
  await new Promise((resolve) => setTimeout(resolve, 200))
  release()
  const progress = async () =>
    (await call('GET', `/executions/bulk/${id}`, { headers: bearerOf('0') })).json()
  await expect.poll(progress).toMatchObject({ state: 'ended', done: 50, stopped: true })
  expect(executions.commands.length - before).toBe(50)
})
