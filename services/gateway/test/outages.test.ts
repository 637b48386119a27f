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

test('a service is unavailable: 503 with Retry-After and no internal detail', {
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

test('identity is unavailable: 503, never 401', async () => {
  const { call } = await startGateway({}, { SVC_SERVICES__IDENTITY: DEAD })
  const headers = { authorization: 'Bearer session-of-w1' }
  const response = await call('POST', `/workers/w1/release/${ID}`, { headers })
  expect(response.status).toBe(503)
})

test('a create that meets an outage: retried with the same execution id', async () => {
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

test('concurrent requests: submitted to executions in few batches', async () => {
  const batches: number[] = []
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const { url } = await startGateway({
    executions: {
      async submit({ commands }) {
        batches.push(commands.length)
        await released
        return { results: commands.map(() => refuse('conflict', 'seen')) }
      },
    },
  })
  // Requests on forty open connections arrive together; those of one connection would begin one after another.
  let received = ''
  const sockets = Array.from({ length: 40 }, () =>
    net.connect(Number(new URL(url).port), '127.0.0.1'),
  )
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) {
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.write(`POST ${RUN} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`)
  }
  await expect.poll(() => batches.length).toBeGreaterThan(0)
  release()
  await expect.poll(() => received.match(/HTTP\/1.1 409/g)?.length).toBe(40)
  expect(batches.reduce((sum, size) => sum + size, 0)).toBe(40)
  for (const socket of sockets) socket.destroy()
  // On a busy machine they are read in several turns, each of which is one batch.
  expect(batches.length).toBeLessThan(40)
})

test('one command makes a batch fail: only its own request gets 500', async () => {
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

test('an unchanged catalog: a workflow is resolved once; without Redis, every time', async () => {
  for (const [env, expected] of [
    [{}, 1],
    [{ SVC_REDIS__URL: 'redis://127.0.0.1:9' }, 3],
  ] as const) {
    let resolves = 0
    const resolve = async () => {
      resolves++
      return workflow()
    }
    const { call } = await startGateway({ catalog: { resolve } }, env)
    for (let i = 0; i < 3; i++) expect((await call('POST', RUN)).status).toBe(200)
    expect(resolves).toBe(expected)
  }
})

/** Starts a Redis proxy that accepts connections and stays silent until `speak` is called. */
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

test('Redis is silent: the gateway starts and serves; it caches once Redis answers', async () => {
  const redis = await silentRedis()
  let resolves = 0
  const resolve = async () => {
    resolves++
    return workflow()
  }
  const { call } = await startGateway({ catalog: { resolve } }, { SVC_REDIS__URL: redis.url })
  const countResolves = async () => {
    const before = resolves
    expect((await call('POST', RUN)).status).toBe(200)
    return resolves - before
  }
  for (let i = 0; i < 3; i++) expect(await countResolves()).toBe(1)
  redis.speak()
  await expect.poll(countResolves).toBe(0)
})

test('health and readiness: follow the executions service', async () => {
  const up = await startGateway()
  const healthy = await up.call('GET', '/health')
  expect(healthy.status).toBe(200)
  expect(await healthy.json()).toEqual({ status: 'healthy', database: true, version: '0.1.0' })
  expect(await (await up.call('GET', '/ready')).json()).toEqual({
    status: 'ready',
    database: true,
  })
  const down = await startGateway({}, { SVC_SERVICES__EXECUTIONS: DEAD })
  const unhealthy = await down.call('GET', '/health')
  expect(unhealthy.status).toBe(503)
  expect(await unhealthy.json()).toMatchObject({ status: 'unhealthy', database: false })
  expect(await (await down.call('GET', '/ready')).json()).toEqual({
    status: 'not-ready',
    database: false,
  })
})
