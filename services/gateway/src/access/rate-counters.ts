import type { Redis } from '@windlass/runtime/redis/redis'
import {
  type IRateLimiterOptions,
  RateLimiterMemory,
  RateLimiterRedis,
} from 'rate-limiter-flexible'

/**
 * Creates the two counters of a rate: one in Redis for all replicas together, and one of this replica,
 * which holds while Redis is unavailable or was flushed.
 */
export function createRateCounters(
  name: string,
  limits: Pick<IRateLimiterOptions, 'points' | 'duration'>,
  redis: Redis,
) {
  const options = { ...limits, keyPrefix: `rate:${name}` }
  return {
    shared: new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true }),
    own: new RateLimiterMemory(options),
  }
}
