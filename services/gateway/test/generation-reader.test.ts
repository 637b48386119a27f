import { setTimeout as sleep } from 'node:timers/promises'
import { GENERATION_LEASE_MS, invalidateCaches } from '@windlass/runtime/cache-generation'
import { openRedis, type Redis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createGenerationReader } from '../src/cache/generation-reader.ts'

async function connectRedis(): Promise<Redis> {
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  return redis
}

/** Creates a reader with a clock that moves only by hand; `gets` spies on its reads of Redis. */
async function readerWithClock() {
  const redis = await connectRedis()
  await invalidateCaches(redis, 'catalog')
  const gets = vi.spyOn(redis, 'get')
  const clock = { running_ms: 1_000, wall_ms: 5_000 }
  const read = createGenerationReader(redis, 'catalog', () => [clock.running_ms, clock.wall_ms])
  return { redis, gets, clock, read }
}

test('A1: reads after an announced change: a new generation, also under concurrent reads', async () => {
  const readers = await Promise.all([connectRedis(), connectRedis()])
  const reads = readers.map((redis) => createGenerationReader(redis, 'catalog'))
  const redis = await connectRedis()
  let isOver = false
  const readLoops = reads.map(async (read) => {
    while (!isOver) {
      await read()
      await sleep(1)
    }
  })
  for (let round = 0; round < 200; round++) {
    const before = await Promise.all(reads.map((read) => read()))
    await sleep(Math.random() * 2 * GENERATION_LEASE_MS)
    await invalidateCaches(redis, 'catalog')
    const after = await Promise.all(reads.map((read) => read()))
    for (const [i, generation] of after.entries()) expect(generation).not.toBe(before[i])
  }
  isOver = true
  await Promise.all(readLoops)
})

test('a generation in use: read once per lease and renewed before it ends', async () => {
  const { redis, gets, clock, read } = await readerWithClock()
  const first = await read()
  await read()
  expect(gets).toHaveBeenCalledTimes(1)
  await invalidateCaches(redis, 'catalog')
  clock.running_ms += GENERATION_LEASE_MS - 1
  expect(await read()).toBe(first)
  await expect.poll(read).not.toBe(first)
  expect(gets).toHaveBeenCalledTimes(2)
})

test.each([
  { running_ms: GENERATION_LEASE_MS, wall_ms: 0 },
  // The host was suspended.
  { running_ms: 1, wall_ms: 3_600_000 },
  // The wall clock was set back.
  { running_ms: 1, wall_ms: -3_600_000 },
])('$running_ms ms on the monotonic, $wall_ms ms on the wall clock: read again', async (passed) => {
  const { redis, clock, read } = await readerWithClock()
  const first = await read()
  await invalidateCaches(redis, 'catalog')
  clock.running_ms += passed.running_ms
  clock.wall_ms += passed.wall_ms
  expect(await read()).not.toBe(first)
})

test('a new Redis connection: the generation is read again', async () => {
  const { redis, gets, read } = await readerWithClock()
  const first = await read()
  redis.disconnect(true)
  await new Promise((resolve) => redis.once('ready', resolve))
  expect(await read()).not.toBe(first)
  expect(gets).toHaveBeenCalledTimes(2)
})
