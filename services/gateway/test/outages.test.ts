import { once } from 'node:events'
import net from 'node:net'
import { Fault } from '@windlass/runtime/faults'
import { testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { ID, RUN } from './assert-response.ts'
import { refuse } from './executions-fake.ts'
import { startGateway, workflow } from './gateway-fixture.ts'

const DEAD = '127.0.0.1:9'
const STATUS = `/workflows/default/hello/status/${ID}`

test('a service unavailable: 503 with Retry-After, without internal details', {
  timeout: 60_000,
}, async () => {
  const cases: [service: string, method: string, path: string][] = [
    ['CATALOG', 'POST', RUN],
    ['EXECUTIONS', 'GET', STATUS],
    ['DISPATCHER', 'GET', '/workers'],
    ['SCHEDULER', 'GET', '/schedules'],
  ]
  await Promise.all(
    cases.map(async ([service, method, path]) => {
      const { call } = await startGateway({}, { [`SVC_SERVICES__${service}`]: DEAD })
      const response = await call(method, path)
      expect(response.status, service).toBe(503)
      expect(response.headers.get('retry-after')).toBe('1')
      expect(await response.json()).toEqual({ detail: 'a required service is unavailable; retry' })
    }),
  )
})

test('identity unavailable: 503, never 401', { timeout: 30_000 }, async () => {
  const { call } = await startGateway({}, { SVC_SERVICES__IDENTITY: DEAD })
  const headers = { authorization: 'Bearer session-of-w1' }
  const response = await call('POST', `/workers/w1/release/${ID}`, { headers })
  expect(response.status).toBe(503)
})

test('an outage during a create: retried under the same id', async () => {
  let failures = 3
  const ids: string[] = []
  const made = await startGateway({
    executions: {
      async submit(request) {
        ids.push(...request.commands.map(({ execution_id }) => execution_id))
        if (failures-- > 0) throw new Fault('unavailable', 'away')
        return { results: request.commands.map(() => refuse('conflict', 'seen')) }
      },
    },
  })
  expect((await made.call('POST', RUN)).status).toBe(409)
  expect(ids).toHaveLength(4)
  expect(new Set(ids).size).toBe(1)
})

test('concurrent requests: one batch to executions', async () => {
  const batches: number[] = []
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const { url } = await startGateway({
    executions: {
      async submit({ commands }) {
        batches.push(commands.length)
        await answered
        return { results: commands.map(() => refuse('conflict', 'seen')) }
      },
    },
  })
  // Forty requests in one segment on one connection arrive together.
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
  let got = ''
  socket.on('data', (chunk) => {
    got += chunk
  })
  socket.write(`POST ${RUN} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`.repeat(40))
  await expect.poll(() => batches.reduce((sum, size) => sum + size, 0)).toBe(40)
  answer()
  await expect.poll(() => got.match(/HTTP\/1.1 409/g)?.length).toBe(40)
  socket.destroy()
  expect(batches.length).toBeLessThanOrEqual(5)
})

test('an item that breaks a batch: the others of the batch succeed', async () => {
  const { json, executions } = await startGateway({
    executions: {
      async submit({ commands }) {
        const inputs = commands.map(({ body }) => body?.$case === 'create' && body.value.input_json)
        if (inputs.includes('"bad"')) throw new Error('a bug')
        return { results: commands.map(() => refuse('conflict', 'seen')) }
      },
    },
  })
  const inputs = Array.from({ length: 20 }, (_, i) => (i === 10 ? 'bad' : i))
  const responses = await Promise.all(inputs.map((input) => json('POST', RUN, input)))
  const statuses = responses.map(({ status }) => status)
  expect(statuses).toEqual(inputs.map((input) => (input === 'bad' ? 500 : 409)))
  expect(await responses[10]?.json()).toEqual({ detail: 'Internal server error' })
  expect(executions.commands).toEqual([])
})

test('a workflow: fetched once per generation, and each time without Redis', async () => {
  for (const [env, expected] of [
    [{}, 1],
    [{ SVC_REDIS__URL: 'redis://127.0.0.1:9' }, 3],
  ] as const) {
    let asked = 0
    const resolve = async () => {
      asked++
      return workflow()
    }
    const { call } = await startGateway({ catalog: { resolve } }, env)
    for (let i = 0; i < 3; i++) expect((await call('POST', RUN)).status).toBe(200)
    expect(asked).toBe(expected)
  }
})

/** A proxy of Redis that at first accepts connections and answers nothing. */
async function silentRedis() {
  const { hostname, port, password } = new URL(testUrl('TEST_REDIS_URL'))
  const silent = new Set<net.Socket>()
  let speaks = false
  const server = net.createServer((client) => {
    client.on('error', () => {})
    if (!speaks) return void silent.add(client)
    const redis = net.connect(Number(port), hostname)
    redis.on('error', () => client.destroy())
    client.once('close', () => redis.destroy())
    client.pipe(redis).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return {
    url: `redis://:${password}@127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    speak() {
      speaks = true
      for (const client of silent) client.destroy()
    },
  }
}

test('Redis silent at start: the gateway serves without caching until Redis answers', async () => {
  const redis = await silentRedis()
  let asked = 0
  const resolve = async () => {
    asked++
    return workflow()
  }
  const { call } = await startGateway({ catalog: { resolve } }, { SVC_REDIS__URL: redis.url })
  const questions = async () => {
    const before = asked
    expect((await call('POST', RUN)).status).toBe(200)
    return asked - before
  }
  for (let i = 0; i < 3; i++) expect(await questions()).toBe(1)
  redis.speak()
  await expect.poll(questions).toBe(0)
})

test('health: follows executions and catalog', { timeout: 30_000 }, async () => {
  const gateway = await startGateway()
  const healthy = await gateway.call('GET', '/health')
  expect(healthy.status).toBe(200)
  expect(await healthy.json()).toEqual({ status: 'healthy', database: true, version: '0.1.0' })
  expect(await (await gateway.call('GET', '/ready')).json()).toEqual({
    status: 'ready',
    database: true,
  })
  const unhealthyGateway = await startGateway({}, { SVC_SERVICES__EXECUTIONS: DEAD })
  const unhealthy = await unhealthyGateway.call('GET', '/health')
  expect(unhealthy.status).toBe(503)
  expect(await unhealthy.json()).toMatchObject({ status: 'unhealthy', database: false })
  expect(await (await unhealthyGateway.call('GET', '/ready')).json()).toEqual({
    status: 'not-ready',
    database: false,
  })
})
