import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { readGeneration } from '@windlass/runtime/cache-generation'
import { newId } from '@windlass/runtime/ids'
import { sql } from '@windlass/runtime/postgres/sql'
import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

async function setup(env: Record<string, string> = {}) {
  const { db, replica: any } = await startIdentity()
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)

  const replica = async (own: Record<string, string> = {}) => {
    const { identity, stop } = await any({ ...env, ...own })
    return { ...identity, stop }
  }
  return { db, redis, replica, worker_name: `w-${randomBytes(4).toString('hex')}` }
}

const HANG_MS = 60_000
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: HANG_MS })

const refused = { kind: 'unauthenticated' }

test('session token: valid at every replica', async () => {
  const { replica, worker_name } = await setup()
  const [a, b] = [await replica(), await replica()]
  const session_id = newId()

  const { token } = await a.issueSession({ worker_name, session_id })
  expect(await b.checkSession({ token })).toEqual({ worker_name, session_id })
})

test('unknown or altered token: refused', async () => {
  const { replica, worker_name } = await setup()
  const client = await replica()
  const { token } = await client.issueSession({ worker_name, session_id: newId() })

  const last = token.endsWith('A') ? 'E' : 'A'
  const others = ['', 'x', '\0', token.slice(0, -1), `${token}A`, token.slice(0, -1) + last]
  for (const other of [...others, token.replace(/^ws_./, 'ws_g'), token.replace('.', '..')]) {
    await expect(client.checkSession({ token: other }), other).rejects.toMatchObject(refused)
  }
})

test('new session of a worker: ends its earlier sessions and no others', async () => {
  const { replica, worker_name } = await setup()
  const [a, b] = [await replica(), await replica()]
  const other = await a.issueSession({ worker_name: `${worker_name}-2`, session_id: newId() })
  const old = await a.issueSession({ worker_name, session_id: newId() })

  const { token } = await b.issueSession({ worker_name, session_id: newId() })
  await expect(a.checkSession({ token: old.token })).rejects.toMatchObject(refused)
  expect(await a.checkSession({ token })).toMatchObject({ worker_name })
  expect(await a.checkSession({ token: other.token })).toBeTruthy()
})

test('tokens of one session: the 16 newest stay valid', async () => {
  const { replica, worker_name } = await setup()
  const client = await replica()
  const session_id = newId()
  const tokens: string[] = []
  for (let i = 0; i < 18; i++) {
    tokens.push((await client.issueSession({ worker_name, session_id })).token)
  }

  const checks = await Promise.allSettled(tokens.map((token) => client.checkSession({ token })))
  const alive = checks.map(({ status }) => status === 'fulfilled')
  expect(alive).toEqual([...Array(2).fill(false), ...Array(16).fill(true)])
})

test('concurrent sessions of one worker: exactly one remains', async () => {
  const { replica, worker_name } = await setup()
  const replicas = [await replica(), await replica()]
  const issued = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      (replicas[i % 2] as (typeof replicas)[0]).issueSession({ worker_name, session_id: newId() }),
    ),
  )

  const checks = await Promise.allSettled(
    issued.map(({ token }) => (replicas[0] as (typeof replicas)[0]).checkSession({ token })),
  )
  expect(checks.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('session issued: replaces the cache generation only if it ended a token', async () => {
  const { db, replica, worker_name } = await setup({
    SVC_REDIS__URL: `${testUrl('TEST_REDIS_URL')}/7`,
  })
  const redis = openRedis(`${testUrl('TEST_REDIS_URL')}/7`)
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const client = await replica()

  const before = await readGeneration(redis, 'auth')
  await client.issueSession({ worker_name, session_id: newId() })
  expect(await readGeneration(redis, 'auth')).toBe(before)
  await client.issueSession({ worker_name, session_id: newId() })
  expect(await readGeneration(redis, 'auth')).not.toBe(before)
  expect(await db.rows(sql`select * from pending_epoch`)).toEqual([])
})

test('Redis unavailable: an ending session is answered unavailable, and invalidated later', async () => {
  const { db, replica, worker_name } = await setup()
  const unreachable = await replica({ SVC_REDIS__URL: await deadRedis() })
  const session_id = newId()
  await unreachable.issueSession({ worker_name, session_id: newId() })

  const unavailable = { kind: 'unavailable' }
  await expect(unreachable.issueSession({ worker_name, session_id })).rejects.toMatchObject(
    unavailable,
  )
  // The repetition ends no token, but the first invalidation is still pending.
  await expect(unreachable.issueSession({ worker_name, session_id })).rejects.toMatchObject(
    unavailable,
  )
  expect(await db.rows(sql`select * from pending_epoch`)).toHaveLength(1)

  await unreachable.stop()
  await replica()
  await eventually(() => db.rows(sql`select * from pending_epoch`)).toEqual([])
})

test('sessions that ended more than a day ago: deleted', async () => {
  const { db, replica, worker_name } = await setup()
  const client = await replica()
  await client.issueSession({ worker_name, session_id: newId() })
  await client.issueSession({ worker_name, session_id: newId() })
  await client.issueSession({ worker_name, session_id: newId() })
  await db.run(sql`
    update worker_sessions set ended_at = now() - interval '25 hours'
     where prefix = (select prefix from worker_sessions where ended_at is not null limit 1)`)

  await replica()
  await eventually(() => db.rows(sql`select * from worker_sessions`)).toHaveLength(2)
})

test('idle session: ends at every replica; a used session does not', async () => {
  const own = `${testUrl('TEST_REDIS_URL')}/8`
  const { db, replica, worker_name } = await setup({
    SVC_WORKERS__SESSION_IDLE_TIMEOUT: '3600',
    SVC_REDIS__URL: own,
  })
  const redis = openRedis(own)
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  const client = await replica()
  const issue = async (name: string) =>
    (await client.issueSession({ worker_name: name, session_id: newId() })).token
  const [used, idle] = [await issue(worker_name), await issue(`${worker_name}-idle`)]
  const rest = (minutes: number) =>
    db.run(sql`
      update worker_sessions
         set last_used_at = last_used_at - make_interval(mins => ${minutes})`)
  await rest(31)
  await client.checkSession({ token: used })
  await rest(31)
  const before = await readGeneration(redis, 'auth')
  await (await replica()).stop()
  await expect(client.checkSession({ token: idle })).rejects.toMatchObject(refused)
  expect(await client.checkSession({ token: used })).toMatchObject({ worker_name })
  await eventually(() => readGeneration(redis, 'auth')).not.toBe(before)
})

test('malformed session id or empty name: refused', async () => {
  const { replica, worker_name } = await setup()
  const client = await replica()

  const invalid = { kind: 'invalid' }
  await expect(client.issueSession({ worker_name, session_id: 'x' })).rejects.toMatchObject(invalid)
  await expect(client.issueSession({ worker_name: '', session_id: newId() })).rejects.toMatchObject(
    invalid,
  )
})

/** URL of a port without a listener. */
async function deadRedis(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return `redis://127.0.0.1:${port}`
}
