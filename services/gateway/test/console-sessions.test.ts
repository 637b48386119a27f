import { dependencyFailures } from '@windlass/runtime/dependency-failures'
import { newId } from '@windlass/runtime/ids'
import { openRedis, type Redis, redisReady } from '@windlass/runtime/redis/redis'
import { storeUrl, testUrl } from '@windlass/testkit/database'
import { ThrottledLink } from '@windlass/testkit/throttled-link'
import { expect, onTestFinished, test } from 'vitest'
import { ConsoleSessions, idOf } from '../src/access/console-session.ts'
import { indexKeyOf, SessionIndex } from '../src/access/console-session-index.ts'
import { startGateway } from './gateway-fixture.ts'
import { keyOf, keysOfAnnAndBob } from './service-account.ts'

const HEADERS = {
  'content-type': 'application/json',
  'x-windlass-console': '1',
  'sec-fetch-site': 'same-origin',
}

/** A gateway at which two principals sign in. */
async function startSignIn() {
  // Sessions of earlier runs are not of these principals.
  const external_issuer = newId()
  const gateway = await startGateway(
    {
      keys: keysOfAnnAndBob({ external_issuer }),
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const signIn = async (digit: string, present = '') => {
    const body = JSON.stringify({ api_key: keyOf(digit) })
    const options = { method: 'POST', headers: { ...HEADERS, cookie: present }, body }
    const response = await fetch(`${gateway.url}/console/session`, options)
    expect(response.status, await response.clone().text()).toBe(200)
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';')
    const call = (path: string, method = 'GET') =>
      fetch(gateway.url + path, { method, headers: { ...HEADERS, cookie } })
    return { call, cookie }
  }
  const [ann, bob] = [await signIn('0'), await signIn('1')]
  return { url: gateway.url, ann: ann.call, bob: bob.call, cookieOfAnn: ann.cookie, signIn }
}

const idsOf = async (call: (path: string) => Promise<Response>) => {
  const { sessions } = (await (await call('/console/sessions')).json()) as {
    sessions: { id: string; current: boolean }[]
  }
  return sessions.map(({ id, current }) => ({ id, current }))
}

test('sessions of another principal: neither listed nor ended', async () => {
  const { ann, bob } = await startSignIn()
  const [own] = await idsOf(ann)
  const [other] = await idsOf(bob)
  if (!own || !other) return expect.unreachable()
  expect(await idsOf(ann)).toEqual([{ id: own.id, current: true }])
  expect(other.id).not.toBe(own.id)
  expect((await bob(`/console/sessions/${own.id}`, 'DELETE')).status).toBe(404)
  expect((await ann('/me')).status).toBe(200)
  expect((await ann(`/console/sessions/${own.id}`, 'DELETE')).status).toBe(200)
  expect((await ann('/me')).status).toBe(401)
  expect((await bob('/me')).status).toBe(200)
})

test('a sign-in over a session: a new cookie, and the former one ends (session fixation)', async () => {
  const { ann, cookieOfAnn, signIn } = await startSignIn()
  const bob = await signIn('1', cookieOfAnn)
  expect(bob.cookie).not.toBe(cookieOfAnn)
  expect((await ann('/me')).status).toBe(401)
  expect(await (await bob.call('/me')).json()).toMatchObject({ subject: 'bob' })
})

test('two systems on one host, whose cookies a browser sends to both: each keeps its own session', async () => {
  const [one, two] = [await startSignIn(), await startSignIn()]
  const jar = new Map<string, string>()
  const keep = (cookie: string) => jar.set(...(cookie.split('=') as [string, string]))
  const cookieHeader = () => [...jar].map((pair) => pair.join('=')).join('; ')
  keep((await one.signIn('0', cookieHeader())).cookie)
  keep((await two.signIn('1', cookieHeader())).cookie)
  const subjectAt = async ({ url }: typeof one) => {
    const headers = { ...HEADERS, cookie: cookieHeader() }
    const me = await fetch(`${url}/me`, { headers })
    return ((await me.json()) as { subject: string }).subject
  }
  expect([await subjectAt(one), await subjectAt(two)]).toEqual(['ann', 'bob'])
})

/** Sessions of earlier tests are not of these. */
const OWNER = { subject: `ann-${process.pid}-${Date.now()}`, issuer: 'windlass' }

/** A connection whose next write happens after `before`. */
function withLateWrite(redis: Redis, before: () => Promise<unknown>): Redis {
  let isFirst = true
  const set = async (...args: Parameters<Redis['set']>) => {
    if (isFirst) await before()
    isFirst = false
    return redis.set(...args)
  }
  return { get: redis.get.bind(redis), eval: redis.eval.bind(redis), set } as unknown as Redis
}

test.each<[string, (sessions: ConsoleSessions, token: string, id: string) => Promise<unknown>]>([
  ['its owner', (sessions, _, id) => sessions.revoke(OWNER, id)],
  ['a sign-out', (sessions, token) => sessions.close(token)],
])('a session that %s ends while a request uses it: stays ended', async (_, end) => {
  const redis = openRedis(storeUrl(testUrl('TEST_REDIS_URL'), 'gateway'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  let now = Date.now()
  const lifetimes = { idleMs: 3_600_000, maxAgeMs: 3_600_000 }
  const sessions = new ConsoleSessions(redis, lifetimes, () => now)
  const token = await sessions.open('credential', OWNER)
  const [{ id } = { id: '' }] = await sessions.list(OWNER)
  // A use is written down a minute after the last one; here the session ends before that write.
  now += 61_000
  const late = withLateWrite(redis, () => end(sessions, token, id))
  await new ConsoleSessions(late, lifetimes, () => now).credentialOf(token)
  expect(await sessions.credentialOf(token)).toBeUndefined()
  expect(await sessions.list(OWNER)).toEqual([])
})

test('an id that is added twice: listed once; those beyond the limit are returned until they are removed', async () => {
  const redis = openRedis(storeUrl(testUrl('TEST_REDIS_URL'), 'gateway'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const index = new SessionIndex(redis)
  const key = indexKeyOf({ ...OWNER, subject: `twice-${OWNER.subject}` })
  const [oldest = '', ...others] = Array.from({ length: 51 }, (_, i) => idOf(`${key} ${i}`))
  for (const id of [oldest, ...others.slice(0, -1)])
    expect(await index.add(key, id, 60_000)).toEqual([])
  const [newest = ''] = others.slice(-1)
  for (let i = 0; i < 2; i++) expect(await index.add(key, newest, 60_000)).toEqual([oldest])
  await index.remove(key, oldest)
  expect(await index.list(key)).toEqual(others.toReversed())
  expect(await index.add(key, newest, 60_000)).toEqual([])
})

test('Redis answers one command too late: sessions are opened, read and ended', async () => {
  const store = storeUrl(testUrl('TEST_REDIS_URL'), 'gateway')
  const { link, url } = await ThrottledLink.toStore(store)
  onTestFinished(() => link.close())
  const redis = openRedis(url)
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const timeouts = () => dependencyFailures().get('redis timeout') ?? 0
  const whileLate = async <T>(act: () => Promise<T>): Promise<T> => {
    const earlier = timeouts()
    link.stop()
    const acting = act()
    await expect.poll(timeouts).toBeGreaterThan(earlier)
    link.resume()
    return acting
  }
  const owner = { ...OWNER, subject: `late-${OWNER.subject}` }
  const sessions = new ConsoleSessions(redis, { idleMs: 3_600_000, maxAgeMs: 3_600_000 })
  const token = await whileLate(() => sessions.open('credential', owner))
  expect(await whileLate(() => sessions.credentialOf(token))).toBe('credential')
  expect(await whileLate(() => sessions.list(owner))).toHaveLength(1)
  await whileLate(() => sessions.close(token))
  expect(await sessions.credentialOf(token)).toBeUndefined()
})

test('Redis has been unavailable for some time: a session is refused at once, for a retry', async () => {
  const redis = openRedis('redis://127.0.0.1:1')
  onTestFinished(() => redis.disconnect())
  const sessions = new ConsoleSessions(redis, { idleMs: 3_600_000, maxAgeMs: 3_600_000 })
  const read = () => sessions.credentialOf('x'.repeat(43))
  await expect(read()).rejects.toMatchObject({ kind: 'unavailable' })
  const begunMs = performance.now()
  for (let i = 0; i < 100; i++) await expect(read()).rejects.toMatchObject({ kind: 'unavailable' })
  // One wait of two seconds for each of them would be 200 s.
  expect(performance.now() - begunMs).toBeLessThan(60_000)
})
