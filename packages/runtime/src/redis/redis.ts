import { Redis } from 'ioredis'
import { waitAtMost } from '../timeout.ts'

const COMMAND_MS = 1_000
const CONNECT_MS = 2_000
const MAX_RECONNECT_MS = 1_000

/** Opens a connection whose commands fail at once while Redis is unavailable; callers work without it. */
export function openRedis(url: string): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    commandTimeout: COMMAND_MS,
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_MS),
  })
  redis.on('error', () => {})
  return redis
}

/** Waits for the first connection, for at most `ms` milliseconds: a service also starts without Redis, without caches. */
export async function redisReady(redis: Redis, ms = CONNECT_MS): Promise<void> {
  if (redis.status === 'ready') return
  await waitAtMost(ms, new Promise<void>((resolve) => redis.once('ready', resolve)))
}

export type { Redis }
