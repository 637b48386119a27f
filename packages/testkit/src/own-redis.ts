import { openRedis, redisReady } from '@windlass/runtime/redis/redis'
import { testUrl } from './database.ts'

// Vitest's set-up of a file that starts whole systems. Those of one process have one of the sixteen
// databases of Redis for themselves, empty at first: tries that one system counts are no other's.
const url = new URL(testUrl('TEST_REDIS_URL'))
url.pathname = process.env.VITEST_POOL_ID ?? '0'
process.env.TEST_REDIS_URL = url.href

const HANG_MS = 60_000
const redis = openRedis(url.href)
redis.options.commandTimeout = HANG_MS
await redisReady(redis, HANG_MS)
await redis.flushdb()
redis.disconnect()
