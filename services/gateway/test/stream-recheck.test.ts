import { invalidateCaches } from '@windlass/runtime/cache-generation'
import { openRedis } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { RUN } from './assert-response.ts'
import { framesOf } from './frames.ts'
import { startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'1'.repeat(16)}.${'A'.repeat(43)}`
const bearer = { headers: { authorization: `Bearer ${KEY}` } }
const MAY_RUN = ['workflow:default:*:run', 'workflow:default:*:task:*:execute']

/** A gateway with a key whose permissions the test changes. */
async function setup() {
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  let permissions = ['*']
  const made = await startGateway(
    {
      keys: {
        find: async () => ({
          account: { principal: serviceAccount(), permissions },
          expires_at: undefined,
        }),
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true', SVC_WORKERS__HEARTBEAT_INTERVAL: '0.2' },
  )
  const grant = async (...granted: string[]) => {
    permissions = granted
    await invalidateCaches(redis, 'auth')
  }
  return { ...made, grant }
}

test.each([
  ['an event stream', 'GET', (id: string) => `/executions/${id}/events`],
  ['an execution with mode=stream', 'GET', (id: string) => `/executions/${id}?mode=stream`],
])(
  '%s whose reader loses the permission: ends with an event that names it',
  async (_, method, pathOf) => {
    const { call, executions, grant } = await setup()
    await call('POST', RUN, bearer)
    const id = executions.last
    executions.grow(id, 'RUNNING', [{ type: 'WORKFLOW_STARTED' }])
    const frames = framesOf(await call(method, pathOf(id), bearer))
    expect((await frames.next()).value).toMatchObject({ event: 'workflow_started', id: '1' })
    await grant(...MAY_RUN)
    const { value: last } = await frames.next()
    expect(last).toMatchObject({
      ...{ id: '1', event: 'access_denied' },
      data: {
        ...{ execution_id: id, state: 'RUNNING', type: 'ACCESS_DENIED' },
        detail: `Permission denied: requires 'execution:${id}:read'`,
      },
    })
    expect((await frames.next()).done).toBe(true)
  },
)

test('a run stream whose caller loses the permission to read: no values and no log from then on', async () => {
  const { call, executions, grant } = await setup()
  const response = await call('POST', '/workflows/default/hello/run/stream?detailed=true', bearer)
  const id = executions.last
  const frames = framesOf(response)
  const completeTask = (seq: number) =>
    executions.grow(id, 'RUNNING', [{ type: 'TASK_COMPLETED', value_json: `"value ${seq}"` }])
  completeTask(1)
  expect((await frames.next()).value).toMatchObject({ data: { value: 'value 1' } })
  await grant(...MAY_RUN)
  let seq = 1
  await expect
    .poll(async () => {
      completeTask(++seq)
      return (await frames.next()).value?.data.value
    })
    .toBe(null)
  executions.grow(id, 'COMPLETED', [{ type: 'WORKFLOW_COMPLETED', value_json: '"output"' }])
  const { value: last } = await frames.next()
  expect(last?.data).toMatchObject({ state: 'COMPLETED', output: 'output' })
  expect(last?.data).not.toHaveProperty('events')
})

test('a synchronous run whose caller loses the permission to read: answered without the log', async () => {
  const { call, executions, grant } = await setup()
  const waiting = call('POST', '/workflows/default/hello/run/sync?detailed=true', bearer)
  await expect.poll(() => executions.commands.length).toBe(1)
  await grant(...MAY_RUN)
  // Five heartbeats: the caller is checked again at each.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  executions.grow(executions.last, 'COMPLETED', [{ type: 'WORKFLOW_COMPLETED', value_json: '1' }])
  const response = await waiting
  expect(response.status).toBe(200)
  expect(await response.json()).not.toHaveProperty('events')
})
