import { testUrl } from '@windlass/testkit/database'
import { ThrottledLink } from '@windlass/testkit/throttled-link'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { dependencyFailures } from '../src/dependency-failures.ts'
import { openBus } from '../src/nats/bus.ts'
import { openDb } from '../src/postgres/db.ts'
import { sql } from '../src/postgres/sql.ts'
import { openRedis, redisReady } from '../src/redis/redis.ts'

/** A store behind a link that can stop: the connection stays open and nothing is answered. */
async function stoppable(name: 'TEST_POSTGRES_URL' | 'TEST_NATS_URL' | 'TEST_REDIS_URL') {
  const stoppable = await ThrottledLink.toStore(testUrl(name))
  onTestFinished(() => stoppable.link.close())
  return stoppable
}

test('Redis hangs: one command times out, later ones fail at once until it answers', async () => {
  const { link, url } = await stoppable('TEST_REDIS_URL')
  const redis = openRedis(url)
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  await redis.set('unresponsive', '1')
  const timeouts = () => dependencyFailures().get('redis timeout') ?? 0
  const earlier = timeouts()
  link.stop()
  await expect(redis.get('unresponsive')).rejects.toThrow('timed out')
  for (let i = 0; i < 20; i++)
    await expect(redis.get('unresponsive')).rejects.not.toThrow('timed out')
  expect(timeouts() - earlier).toBe(1)
  link.resume()
  await expect.poll(() => redis.get('unresponsive').catch(() => undefined)).toBe('1')
})

/** Blocks this process once what was written has been sent, so that the answer waits in the socket. */
async function blockAfterSending(ms: number): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('the process is blocked while Redis answers: the command succeeds, the connection stays', async () => {
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  await redis.set('blocked', '1')
  const { stream } = redis
  const answer = redis.get('blocked')
  await blockAfterSending(1_000)
  expect(await answer).toBe('1')
  expect(redis.stream).toBe(stream)
})

test('the process is blocked while NATS answers: NATS counts as available', async () => {
  const bus = await openBus(testUrl('TEST_NATS_URL'), pino({ level: 'silent' }))
  onTestFinished(() => bus.close())
  const subscription = bus.subscribeBestEffort('blocked', () => {})
  onTestFinished(() => subscription.stop())
  const timeouts = () => dependencyFailures().get('nats timeout') ?? 0
  const earlier = timeouts()
  expect(bus.isUp).toBe(true)
  const confirmed = subscription.confirmed()
  await blockAfterSending(1_500)
  await confirmed
  expect(timeouts()).toBe(earlier)
  expect(bus.isUp).toBe(true)
})

test('NATS hangs: after one timeout it counts as unavailable until it answers', async () => {
  const { link, url } = await stoppable('TEST_NATS_URL')
  const bus = await openBus(url, pino({ level: 'silent' }))
  onTestFinished(() => bus.close())
  const confirm = async () => {
    const subscription = bus.subscribeBestEffort('unresponsive', () => {})
    onTestFinished(() => subscription.stop())
    await subscription.confirmed()
  }
  await confirm()
  expect(bus.isUp).toBe(true)
  link.stop()
  await confirm()
  expect(bus.isUp).toBe(false)
  const message = { subject: 'events.test.x', bytes: new Uint8Array(), event_id: 'x' }
  await expect(bus.publishDurable([message])).rejects.toThrow('NATS is unavailable')
  link.resume()
  await expect.poll(() => bus.isUp).toBe(true)
})

test('PostgreSQL hangs: a statement fails at its time limit and its connection is replaced', async () => {
  const { link, url } = await stoppable('TEST_POSTGRES_URL')
  const db = openDb(url, 'public', { maxConnections: 2, statementMs: 500 })
  await db.run(sql`select 1`)
  link.stop()
  await expect(db.run(sql`select 1`)).rejects.toThrow('timeout')
  await expect(db.tx((tx) => tx.run(sql`select 1`))).rejects.toThrow('timeout')
  link.resume()
  await expect.poll(() => db.rows(sql`select 1 as one`).catch(() => [])).toEqual([{ one: 1 }])
  await db.close()
})
