import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from './database.ts'

// Vitest set-up of files that start whole systems: each test process uses its own of the sixteen Redis
// databases, emptied first, so that the rate limits of one system do not count for another.
const url = new URL(testUrl('TEST_REDIS_URL'))
url.pathname = process.env.VITEST_POOL_ID ?? '0'
process.env.TEST_REDIS_URL = url.href

const HANG_MS = 60_000
const redis = openRedis(url.href, {}, HANG_MS)
await redisReady(redis, HANG_MS)
await redis.flushdb()
redis.disconnect()
