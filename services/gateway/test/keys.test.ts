import type { Account } from '@windlass/proto/windlass/identity/v1/principals'
import { invalidateCaches } from '@windlass/runtime/cache-generation'
import { Fault, unavailable } from '@windlass/runtime/faults'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { startService } from '@windlass/testkit/service'
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../src/server.ts'
import { ID, RUN } from './assert-response.ts'
import { startGateway, workflow } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
const CATALOG = [workflow(), workflow({ name: 'other' }), workflow({ namespace: 'team' })]

/** Starts a gateway with authentication on and one account whose API key is KEY. */
async function setup(permissions: string[], principal: Partial<Account['principal']> = {}) {
  const account = {
    principal: serviceAccount(principal),
    permissions,
  }
  const state = { fault: undefined as Fault | undefined, account }
  const made = await startGateway(
    {
      keys: {
        async find() {
          if (state.fault) throw state.fault
          return { account: state.account, expires_at: undefined }
        },
      },
      catalog: {
        list: async () => ({ workflows: CATALOG }),
        resolve: async ({ namespace, name }) =>
          workflow({
            namespace,
            name,
            metadata_json: '{"task_names":["t"],"required_permissions":["payroll:run"]}',
          }),
      },
      roles: { list: async () => ({ roles: [] }) },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const send = (method: string, path: string, token = KEY) =>
    made.call(method, path, { headers: { authorization: `Bearer ${token}` } })
  return { ...made, send, state }
}

const statusAndBody = async (response: Response) => [response.status, await response.json()]

test('an API key: admitted by its permissions; a 403 names the missing one', async () => {
  const { send } = await setup(['admin:roles:read'])
  expect(await statusAndBody(await send('GET', '/admin/roles'))).toEqual([200, []])
  expect(await statusAndBody(await send('GET', '/admin/secrets'))).toEqual([
    403,
    { detail: "Permission denied: requires 'admin:secrets:read'" },
  ])
})

test('workflows without read permission: neither listed nor counted', async () => {
  const { send } = await setup(['workflow:default:hello:read'])
  expect(await statusAndBody(await send('GET', '/workflows'))).toEqual([
    200,
    [{ namespace: 'default', name: 'hello', version: 1 }],
  ])
  expect(await statusAndBody(await send('GET', '/namespaces'))).toEqual([
    200,
    [{ namespace: 'default', workflow_count: 1 }],
  ])
})

test('a run without its permissions: 403 naming all that are missing', async () => {
  const { send } = await setup(['workflow:default:hello:run'])
  const task = 'workflow:default:hello:task:t:execute'
  expect(await statusAndBody(await send('POST', RUN))).toEqual([
    403,
    { detail: { message: 'Authorization denied', missing_permissions: ['payroll:run', task] } },
  ])
})

test('a run with all permissions: 200, one execution', async () => {
  const { send, executions } = await setup(['workflow:*', 'payroll:run'])
  expect((await send('POST', RUN)).status).toBe(200)
  expect(executions.rows.size).toBe(1)
})

test('a revoked key: 401 once the caches are invalidated', async () => {
  const { send, state } = await setup(['*'])
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  expect((await send('GET', '/admin/roles')).status).toBe(200)
  state.fault = new Fault('unauthenticated', 'Invalid or expired token')
  await invalidateCaches(redis, 'auth')
  expect(await statusAndBody(await send('GET', '/admin/roles'))).toEqual([
    401,
    { detail: 'Invalid or expired token' },
  ])
})

test('identity is unavailable: 503 for an unknown key, never 401', async () => {
  const { send, state } = await setup(['*'])
  state.fault = unavailable('identity is away')
  const other = `wk_${'1'.repeat(16)}.${'A'.repeat(43)}`
  expect((await send('GET', '/admin/roles', other)).status).toBe(503)
})

test('a service account with worker permission: acts for the worker of its name only', async () => {
  const path = (name: string) => `/workers/${name}/claim/${ID}`
  const admin = await setup(['admin:*'])
  expect(await statusAndBody(await admin.send('POST', path('robot')))).toEqual([
    403,
    { detail: "Permission denied: requires 'worker:*:*'" },
  ])
  const worker = await setup(['worker:*:*'])
  expect((await worker.send('POST', path('w1'))).status).toBe(403)
  expect([401, 403]).not.toContain((await worker.send('POST', path('robot'))).status)
  const foreign = await setup(['worker:*:*'], { external_issuer: 'https://idp/' })
  expect((await foreign.send('POST', path('robot'))).status).toBe(403)
})

test('authentication on without execution_token_secret: the gateway does not start', async () => {
  const starting = startService(start, { SVC_SECURITY__AUTH__ENABLED: 'true' })
  await expect(starting).rejects.toThrow(
    /needs \[svc\.security\]\.execution_token_secret to be set/,
  )
})
