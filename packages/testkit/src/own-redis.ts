import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from './database.ts'

// Vitest set-up of files that start whole systems: each test process uses one of the databases 1 to 15 of Redis alone,
// emptied before each file. Otherwise the rate limits of one system would count for another, and a file that begins would
// end the sessions of one that runs. Redis gives out the databases in turn: VITEST_POOL_ID is the same in two processes if
// the first process was the last to finish in the projects before (vitest 4.1).
const DATABASES = 15
const HANG_MS = 60_000

async function connected(url: URL) {
  const redis = openRedis(url.href, {}, HANG_MS)
  await redisReady(redis, HANG_MS)
  return redis
}

async function chooseDatabase(url: URL): Promise<string> {
  const redis = await connected(url)
  const processes = await redis.incr('test:processes')
  redis.disconnect()
  return String(((processes - 1) % DATABASES) + 1)
}

const url = new URL(testUrl('TEST_REDIS_URL'))
// This module is run again for each file of a process.
process.env.TEST_REDIS_DATABASE ??= await chooseDatabase(url)
url.pathname = process.env.TEST_REDIS_DATABASE
process.env.TEST_REDIS_URL = url.href

const redis = await connected(url)
await redis.flushdb()
redis.disconnect()
