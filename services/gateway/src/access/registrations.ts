import { Fault } from '@windlass/runtime/faults'
import type { Redis } from '@windlass/runtime/redis'
import type { Settings } from '@windlass/runtime/settings'
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Exchange } from '../http/exchange.ts'
import { addressOf } from './address.ts'

const SECONDS: Record<string, number> = { second: 1, minute: 60, hour: 3_600 }

export interface Registrations {
  /** Counts one more try of this client; throws `rate_limited` above the rate. */
  count(x: Exchange): Promise<void>
}

/** Counts in Redis for all replicas together; each counts for itself while Redis is away. */
export function limitRegistrations({ workers, server }: Settings, redis: Redis): Registrations {
  const [, points = '0', unit = ''] = /^(\d+)\/(\w+)$/.exec(workers.register_rate_limit) ?? []
  if (points === '0') return { count: async () => {} }
  const rate = { points: Number(points), duration: SECONDS[unit] ?? 60, keyPrefix: 'rate:register' }
  const limiter = new RateLimiterRedis({
    ...rate,
    storeClient: redis,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(rate),
  })
  return {
    async count(x) {
      try {
        await limiter.consume(addressOf(x, server.trusted_proxies))
      } catch (refusal) {
        if (refusal instanceof Error) throw refusal
        const { msBeforeNext } = refusal as RateLimiterRes
        x.answerHeaders.push('retry-after', String(Math.ceil(msBeforeNext / 1_000)))
        throw new Fault('rate_limited', 'Rate limit exceeded. Try again later.')
      }
    },
  }
}
