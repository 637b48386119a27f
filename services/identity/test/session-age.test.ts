import { readGeneration } from '@windlass/runtime/cache-generation'
import { newId } from '@windlass/runtime/ids'
import { sql } from '@windlass/runtime/postgres/sql'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

const REDIS = `${testUrl('TEST_REDIS_URL')}/9`
const refused = { kind: 'unauthenticated' }

async function setup(maxAge = '3600') {
  const { replica, db } = await startIdentity()
  const env = { SVC_WORKERS__SESSION_MAX_AGE: maxAge, SVC_REDIS__URL: REDIS }
  const [one, two] = [await replica(env), await replica(env)]
  const session_id = newId()
  return {
    db,
    two: two.identity,
    issue: async (renewal = false) =>
      (await one.identity.issueSession({ worker_name: 'w', session_id, renewal })).token,
    check: (token: string, at = one.identity) => at.checkSession({ token }),
    age: (minutes: number) =>
      db.run(sql`
        update worker_sessions set registered_at = registered_at - make_interval(mins => ${minutes})`),
  }
}

test('a session as old as session_max_age: refused by every replica, and the caches are invalidated', async () => {
  const redis = openRedis(REDIS)
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const { issue, check, age, two } = await setup()
  const token = await issue()
  await age(59)
  expect(await check(token, two)).toMatchObject({ worker_name: 'w' })
  const before = await readGeneration(redis, 'auth')
  await age(1)
  await expect(check(token)).rejects.toMatchObject(refused)
  await expect(check(token, two)).rejects.toMatchObject(refused)
  // Gateways keep sessions in caches of this generation.
  await expect.poll(() => readGeneration(redis, 'auth')).not.toBe(before)
})

test('a renewed session: has the age of its registration', async () => {
  const { issue, check, age } = await setup()
  await issue()
  await age(50)
  const renewed = await issue(true)
  await age(9)
  expect(await check(renewed)).toMatchObject({ worker_name: 'w' })
  await age(1)
  await expect(check(renewed)).rejects.toMatchObject(refused)
})

test('a new registration of the same session: begins a new age', async () => {
  const { issue, check, age } = await setup()
  await issue()
  await age(61)
  const fresh = await issue()
  expect(await check(fresh)).toMatchObject({ worker_name: 'w' })
})

test('a renewal of a session that has ended meanwhile: refused', async () => {
  const { issue, db } = await setup()
  await issue()
  await db.run(sql`update worker_sessions set ended_at = now()`)
  await expect(issue(true)).rejects.toMatchObject({ kind: 'forbidden' })
})

test('no session_max_age: sessions of any age are accepted', async () => {
  const { issue, check, age } = await setup('0')
  const token = await issue()
  await age(1_000_000)
  expect(await check(token)).toMatchObject({ worker_name: 'w' })
})
