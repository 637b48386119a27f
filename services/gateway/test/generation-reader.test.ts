import { setTimeout as sleep } from 'node:timers/promises'
import { GENERATION_LEASE_MS, invalidateCaches } from '@windlass/runtime/cache-generation'
import { openRedis, type Redis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createGenerationReader } from '../src/cache/generation-reader.ts'

async function connected(): Promise<Redis> {
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  await redisReady(redis)
  return redis
}

/** A reader with a clock that stands still; `asked` counts its calls of Redis. */
async function stopped() {
  const redis = await connected()
  await invalidateCaches(redis, 'catalog')
  const asked = vi.spyOn(redis, 'get')
  const clock = { running_ms: 1_000, wall_ms: 5_000 }
  const read = createGenerationReader(redis, 'catalog', () => [clock.running_ms, clock.wall_ms])
  return { redis, asked, clock, read }
}

test('A1: a read after an invalidation: a new generation, with any number of concurrent reads', async () => {
  const readers = await Promise.all([connected(), connected()])
  const reads = readers.map((redis) => createGenerationReader(redis, 'catalog'))
  const redis = await connected()
  let isOver = false
  const askers = reads.map(async (read) => {
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
  await Promise.all(askers)
})

test('a lease: serves until it expires, and is renewed in use', async () => {
  const { redis, asked, clock, read } = await stopped()
  const first = await read()
  await read()
  expect(asked).toHaveBeenCalledTimes(1)
  await invalidateCaches(redis, 'catalog')
  clock.running_ms += GENERATION_LEASE_MS - 1
  expect(await read()).toBe(first)
  await expect.poll(read).not.toBe(first)
  expect(asked).toHaveBeenCalledTimes(2)
})

test.each([
  { running_ms: GENERATION_LEASE_MS, wall_ms: 0 },
  // The host slept.
  { running_ms: 1, wall_ms: 3_600_000 },
  // The wall clock was set.
  { running_ms: 1, wall_ms: -3_600_000 },
])('after $running_ms ms monotonic and $wall_ms ms wall clock time: read again', async (passed) => {
  const { redis, clock, read } = await stopped()
  const first = await read()
  await invalidateCaches(redis, 'catalog')
  clock.running_ms += passed.running_ms
  clock.wall_ms += passed.wall_ms
  expect(await read()).not.toBe(first)
})

test('a new connection: the generation is read again', async () => {
  const { redis, asked, read } = await stopped()
  const first = await read()
  redis.disconnect(true)
  await new Promise((resolve) => redis.once('ready', resolve))
  expect(await read()).not.toBe(first)
  expect(asked).toHaveBeenCalledTimes(2)
})
