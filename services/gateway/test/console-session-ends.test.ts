import { randomUUID } from 'node:crypto'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { storeUrl, testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { ConsoleSessions } from '../src/access/console-session.ts'
import { startGateway } from './gateway-fixture.ts'
import { keyOf, keysOfAnnAndBob } from './service-account.ts'

const MINUTE_MS = 60_000

async function setup() {
  const redis = openRedis(storeUrl(testUrl('TEST_REDIS_URL'), 'gateway'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const clock = { ms: Date.now() }
  const lifetimes = { idleMs: 10 * MINUTE_MS, maxAgeMs: 30 * MINUTE_MS }
  const sessions = new ConsoleSessions(redis, lifetimes, () => clock.ms)
  const owner = { subject: randomUUID(), issuer: 'windlass' }
  const token = await sessions.open('the credential', owner)
  const readAfter = (minutes: number) => {
    clock.ms += minutes * MINUTE_MS
    return sessions.credentialOf(token)
  }
  return { redis, sessions, owner, token, readAfter }
}

test('a session that is used: lives beyond the idle time, and ends at its age', async () => {
  const { sessions, owner, readAfter } = await setup()
  for (const minutes of [9, 9, 9]) expect(await readAfter(minutes)).toBe('the credential')
  expect(await sessions.list(owner)).toHaveLength(1)
  expect(await readAfter(4)).toBeUndefined()
  expect(await sessions.list(owner)).toEqual([])
})

test('a session that is unused for the idle time: ended', async () => {
  const { sessions, owner, readAfter } = await setup()
  expect(await readAfter(11)).toBeUndefined()
  expect(await sessions.list(owner)).toEqual([])
})

test('a stored session: under the hash of its token of 256 bits, without the token and the credential', async () => {
  const { redis, sessions, owner, token } = await setup()
  expect(Buffer.from(token, 'base64url')).toHaveLength(32)
  const [{ id } = { id: '' }] = await sessions.list(owner)
  expect(id).not.toBe(token)
  const stored = await redis.get(`console:${id}`)
  expect(JSON.parse(stored ?? '')).toHaveProperty('sealed')
  expect(stored).not.toContain('the credential')
  expect(stored).not.toContain(token)
  expect(await redis.get(`console:${token}`)).toBeNull()
})

test('a sign-in over TLS: the cookie is for this host alone, and no script and no other site gets it', async () => {
  const gateway = await startGateway(
    { keys: keysOfAnnAndBob() },
    { SVC_SECURITY__AUTH__ENABLED: 'true', SVC_SERVER__PUBLIC_URL: 'https://w.example' },
  )
  const response = await gateway.json(
    'POST',
    '/console/session',
    { api_key: keyOf('0') },
    { 'x-windlass-console': '1', 'sec-fetch-site': 'same-origin' },
  )
  expect(response.status).toBe(200)
  expect(response.headers.get('set-cookie')).toMatch(
    /^__Host-windlass=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
  )
})
