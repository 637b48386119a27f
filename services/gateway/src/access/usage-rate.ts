import { quotaExceeded } from '@windlass/domain/quota-exceeded'
import type { Redis } from '@windlass/runtime/redis/redis'
import { type Holder, hashOf } from './held-quota.ts'
import { createRateCounters } from './rate-counters.ts'

const HOUR_S = 3_600

/**
 * Counts uses of the current hour by holder: in Redis for all replicas, and in each replica its own uses,
 * which count alone while Redis is unavailable.
 */
export function createUsageRate(name: string, redis: Redis) {
  const limits = { points: Number.MAX_SAFE_INTEGER, duration: HOUR_S }
  const { shared, own } = createRateCounters(name, limits, redis)
  return {
    /** Counts one more; throws `unavailable` above the limit. */
    async count({ key, limit }: Holder): Promise<void> {
      if (limit === 0) return
      const { consumedPoints } = await own.consume(key)
      const all = await shared.consume(hashOf(key)).catch(() => undefined)
      if (Math.max(consumedPoints, all?.consumedPoints ?? 0) > limit)
        throw quotaExceeded(name, key, limit)
    },
  }
}
