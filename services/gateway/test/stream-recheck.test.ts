import { invalidateCaches } from '@windlass/runtime/cache-generation'
import { openRedis } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { RUN } from './assert-response.ts'
import { framesOf } from './frames.ts'
import { type FakeServices, startGateway } from './gateway-fixture.ts'
import { openClient } from './raw-clients.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'1'.repeat(16)}.${'A'.repeat(43)}`
const bearer = { headers: { authorization: `Bearer ${KEY}` } }
const MAY_RUN = ['workflow:default:*:run', 'workflow:default:*:task:*:execute']

/** A gateway with a key whose permissions the test changes. */
async function setup(scripts: FakeServices = {}) {
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
      ...scripts,
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

const MEBIBYTE = 1_048_576
/** More than the buffers of a connection take. */
const PARTS = 32

const PAYLOADS: FakeServices['history'] = {
  readPayload: async ({ offset, length }) => ({
    found: true,
    part: Buffer.alloc(Math.min(length, PARTS * MEBIBYTE - offset), '1'),
    total_bytes: PARTS * MEBIBYTE,
    revision: 1,
  }),
}

test.each([
  ['a payload', 'input'],
  ['the log of an event stream', 'events'],
])('%s whose slow reader loses the permission: ends, and nothing more is sent', async (_, path) => {
  const value_json = JSON.stringify('x'.repeat(MEBIBYTE))
  const { call, url, executions, grant } = await setup({
    history: PAYLOADS,
    executions: {
      log: async ({ execution_id, after_seq }) => {
        const { execution, log } = executions.rows.get(execution_id) ?? { log: [] }
        return { execution, entries: log.filter(({ seq }) => seq > after_seq), more: false }
      },
    },
  })
  await call('POST', RUN, bearer)
  const id = executions.last
  const events = Array.from({ length: 24 }, () => ({ type: 'TASK_COMPLETED', value_json }))
  executions.signals.on = false
  executions.grow(id, 'RUNNING', events)
  const head = `GET /executions/${id}/${path} HTTP/1.1\r\nHost: localhost\r\n`
  const socket = openClient(
    Number(new URL(url).port),
    `${head}Authorization: Bearer ${KEY}\r\n\r\n`,
  )
  await expect.poll(() => socket.bytesRead).toBeGreaterThan(0)
  socket.pause()
  await grant()
  // Five heartbeats: the caller is checked again at each.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  expect(socket.bytesRead).toBeLessThan(20 * MEBIBYTE)
})
