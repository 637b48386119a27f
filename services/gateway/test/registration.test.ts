import { randomInt } from 'node:crypto'
import type { RegisterRequest } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { workerRecord } from '@windlass/testkit/worker-record'
import { expect, onTestFinished, test } from 'vitest'
import { type FakeServices, startGateway } from './gateway-fixture.ts'

const WORKER = workerRecord('w1', {
  labels: { zone: 'a' },
  packages: [{ name: 'p', version: '1' }],
  capacity: 16,
  runners: ['inprocess'],
})

const GOOD = { authorization: 'Bearer boot' }

function fakes(registered: RegisterRequest[] = [], configured = true): FakeServices {
  return {
    identity: {
      checkBootstrap: async ({ token }) => ({ configured, valid: token === 'boot' }),
      issueSession: async ({ worker_name, session_id }) => ({
        token: `token of ${worker_name} in ${session_id}`,
      }),
      checkSession: async ({ token }) => ({ worker_name: 'w1', session_id: token }),
    },
    dispatcher: {
      async register(request) {
        registered.push(request)
        if (!request.worker) throw new Error('no worker')
        return { worker: { ...request.worker, status: 'offline' }, session_id: 's1' }
      },
    },
  }
}

test('a registration: the record and the session token', async () => {
  const registered: RegisterRequest[] = []
  const { json } = await startGateway(fakes(registered))
  const response = await json('POST', '/workers/register', { ...WORKER, colour: 'blue' }, GOOD)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    ...WORKER,
    status: 'offline',
    metrics: {},
    last_seen_at: null,
    session_token: 'token of w1 in s1',
    task_authorization: false,
    features: [
      'session_renewal',
      'execution_tokens',
      'parking',
      'captured_lines',
      'lines_in_checkpoints',
      'checkpoint_batches',
      'claim_by_delivery',
      'keep_workflows',
      'continue_cancelled',
    ],
  })
  expect(registered[0]).toMatchObject({ instance: '', proven_session_id: '' })
})

test('a registration without optional members: accepted with the defaults', async () => {
  const registered: RegisterRequest[] = []
  const { json } = await startGateway(fakes(registered))
  const { labels: _, ...old } = { ...WORKER, max_concurrent_executions: null, runners: null }
  expect((await json('POST', '/workers/register', old, GOOD)).status).toBe(200)
  expect(registered[0]?.worker).toMatchObject({
    labels: {},
    max_concurrent_executions: 0,
    runners: ['inprocess'],
  })
})

test.each([
  [['claim_by_delivery', 'unknown'], { claims_by_delivery: true, keeps_workflows: false }],
  [['keep_workflows'], { keeps_workflows: true, continues_cancelled: false }],
  [['continue_cancelled'], { continues_cancelled: true, claims_by_delivery: false }],
  [undefined, { claims_by_delivery: undefined, continues_cancelled: undefined }],
])('features %j: registered as %j', async (features, expected) => {
  const registered: RegisterRequest[] = []
  const { json } = await startGateway(fakes(registered))
  expect((await json('POST', '/workers/register', { ...WORKER, features }, GOOD)).status).toBe(200)
  expect(registered[0]).toMatchObject(expected)
})

test('a session token: proves the earlier session of its own worker only', async () => {
  const registered: RegisterRequest[] = []
  const { json } = await startGateway(fakes(registered))
  const headers = { ...GOOD, 'x-svc-session': 'earlier' }
  await json('POST', '/workers/register', { ...WORKER, instance: 'i' }, headers)
  await json('POST', '/workers/register', { ...WORKER, name: 'w2' }, headers)
  expect(registered[0]).toMatchObject({ instance: 'i', proven_session_id: 'earlier' })
  expect(registered[1]).toMatchObject({ proven_session_id: '' })
})

const credentials: [headers: Record<string, string>, status: number, detail: string][] = [
  [{}, 401, 'Authorization header missing'],
  [{ authorization: 'Basic eDp5' }, 401, 'Invalid authorization format'],
  [{ authorization: 'Bearer' }, 401, 'Invalid authorization format'],
  [{ authorization: 'Bearer boo' }, 403, 'Invalid bootstrap token.'],
  [{ authorization: 'Bearer boot2' }, 403, 'Invalid bootstrap token.'],
]

test.each(credentials)('registration with %o: %i', async (headers, status, detail) => {
  const { json } = await startGateway(fakes())
  const response = await json('POST', '/workers/register', WORKER, headers)
  expect(response.status).toBe(status)
  expect(await response.json()).toEqual({ detail })
})

test('no bootstrap token is configured: registration answers 500', async () => {
  const { json } = await startGateway(fakes([], false))
  const response = await json('POST', '/workers/register', WORKER, GOOD)
  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({ detail: 'No bootstrap token is configured.' })
})

const faults: Record<string, unknown> = {
  'no name': { ...WORKER, name: undefined },
  'an empty name': { ...WORKER, name: '' },
  'a path as a name': { ...WORKER, name: '../x' },
  'a name of two lines': { ...WORKER, name: 'w\n1' },
  'a name too long': { ...WORKER, name: 'w'.repeat(129) },
  'dots as a name': { ...WORKER, name: '..' },
  'no runtime': { ...WORKER, runtime: undefined },
  'no resources': { ...WORKER, resources: undefined },
  'a negative resource': { ...WORKER, resources: { ...WORKER.resources, cpu_total: -1 } },
  'packages that are text': { ...WORKER, packages: 'all' },
  'a label that is a number': { ...WORKER, labels: { zone: 1 } },
  'a label with a NUL': { ...WORKER, labels: { zone: '\0' } },
  'a label __proto__': {
    ...WORKER,
    labels: JSON.parse('{"__proto__":"eu"}'),
  },
  'half a slot': { ...WORKER, max_concurrent_executions: 0.5 },
  'a list': [],
}

test.each(Object.entries(faults))('registration with %s: 422', async (_, body) => {
  const registered: RegisterRequest[] = []
  const { json } = await startGateway(fakes(registered))
  expect((await json('POST', '/workers/register', body, GOOD)).status).toBe(422)
  expect(registered).toEqual([])
})

test('registrations above the rate: 429, x-forwarded-for is ignored', async () => {
  const env = { SVC_WORKERS__REGISTER_RATE_LIMIT: '3/hour', SVC_REDIS__URL: 'redis://127.0.0.1:9' }
  const { json } = await startGateway(fakes(), env)
  const statuses: number[] = []
  for (let i = 0; i < 5; i++) {
    const headers = { ...GOOD, 'x-forwarded-for': `10.0.0.${i}` }
    const response = await json('POST', '/workers/register', WORKER, headers)
    statuses.push(response.status)
    if (response.status !== 429) continue
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await response.json()).toEqual({ detail: 'Rate limit exceeded. Try again later.' })
  }
  expect(statuses).toEqual([200, 200, 200, 429, 429])
})

test('a trusted proxy: the rate counts per forwarded address, over all replicas', async () => {
  const env = { SVC_WORKERS__REGISTER_RATE_LIMIT: '2/hour', SVC_SERVER__TRUSTED_PROXIES: '1' }
  const [one, other] = [await startGateway(fakes(), env), await startGateway(fakes(), env)]
  const net = `2001:db8:${Math.floor(Math.random() * 65_536).toString(16)}`
  const send = async ({ json }: typeof one, address: string) =>
    (
      await json('POST', '/workers/register', WORKER, {
        ...GOOD,
        'x-forwarded-for': `1.2.3.4, ${address}`,
      })
    ).status
  expect(await send(one, `${net}:1::1`)).toBe(200)
  expect(await send(other, `${net}:1::2`)).toBe(200)
  expect(await send(other, `${net}:1::3`)).toBe(429)
  expect(await send(other, `${net}:2::1`)).toBe(200)
})

/** Starts two gateways behind one trusted proxy; `send` registers from a random client network. */
async function behindProxy(rate: string) {
  const env = { SVC_WORKERS__REGISTER_RATE_LIMIT: rate, SVC_SERVER__TRUSTED_PROXIES: '1' }
  const gateways = [await startGateway(fakes(), env), await startGateway(fakes(), env)]
  const net = `2001:db8:${randomInt(65_536).toString(16)}:${randomInt(65_536).toString(16)}`
  const send = async (gateway: number, headers: Record<string, string> = {}) => {
    const forwarded = `${randomInt(255)}.1.1.1, ${net}::${randomInt(65_536).toString(16)}`
    const response = await gateways[gateway]?.json('POST', '/workers/register', WORKER, {
      ...GOOD,
      'x-forwarded-for': forwarded,
      ...headers,
    })
    return response?.status
  }
  return { send, key: `rate:register:${net}` }
}

test('N134: the 31st registration in a minute: 429, through any gateway and with any headers', async () => {
  const { send } = await behindProxy('30/minute')
  const statuses: (number | undefined)[] = []
  for (let i = 0; i < 32; i++)
    statuses.push(
      await send(i % 2, {
        forwarded: `for=10.0.0.${i}`,
        'x-real-ip': `10.0.0.${i}`,
        'x-client-ip': '1.1.1.1',
      }),
    )
  expect(statuses).toEqual([...Array(30).fill(200), 429, 429])
})

test('N135: Redis loses its counters: registrations above the rate still get 429', async () => {
  const { send, key } = await behindProxy('2/minute')
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  expect([await send(0), await send(0), await send(0)]).toEqual([200, 200, 429])
  expect(await redis.del(key)).toBe(1)
  expect(await send(0)).toBe(429)
})

test('a guesser behind the proxy of a fleet: its guesses get 429, the fleet registers', async () => {
  const checked: string[] = []
  const services = fakes()
  const env = { SVC_WORKERS__REGISTER_RATE_LIMIT: '3/hour', SVC_SERVER__TRUSTED_PROXIES: '0' }
  const { json } = await startGateway(
    {
      ...services,
      identity: {
        ...services.identity,
        async checkBootstrap({ token }) {
          checked.push(token)
          return { configured: true, valid: token === 'boot' }
        },
      },
    },
    { ...env, SVC_REDIS__URL: 'redis://127.0.0.1:9' },
  )
  const send = async (token: string) =>
    (await json('POST', '/workers/register', WORKER, { authorization: `Bearer ${token}` })).status
  expect(await send('boot')).toBe(200)
  const guesses = await Promise.all(Array.from({ length: 20 }, (_, i) => send(`guess-${i}`)))
  expect(guesses.filter((status) => status === 403)).toHaveLength(3)
  expect(guesses.filter((status) => status === 429)).toHaveLength(17)
  expect(checked.filter((token) => token !== 'boot')).toHaveLength(3)
  expect([await send('boot'), await send('boot'), await send('boot')]).toEqual([200, 200, 429])
})
