import { Fault } from '@windlass/runtime/faults'
import type { Redis } from '@windlass/runtime/redis/redis'
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import type { RequestContext } from '../http/request-context.ts'
import { addressOf } from './address.ts'

const SECONDS: Record<string, number> = { second: 1, minute: 60, hour: 3_600 }

export interface RateLimit {
  /** Counts one more try of this client; throws `rate_limited` above the rate. */
  count(ctx: RequestContext): Promise<void>
}

export interface Rate {
  /** What is counted. */
  name: string
  /** Like `30/minute`; empty for no limit. */
  rate: string
  /** How many hops of the client's address are believed. */
  trustedProxies: number
}

/**
 * Counts in Redis for all replicas together, and in each replica what came to it, so that a Redis
 * that is away or was emptied opens no door.
 */
export function createRateLimit({ name, rate, trustedProxies }: Rate, redis: Redis): RateLimit {
  const [, points = '0', unit = ''] = /^(\d+)\/(\w+)$/.exec(rate) ?? []
  if (points === '0') return { count: async () => {} }
  const limits = {
    points: Number(points),
    duration: SECONDS[unit] ?? 60,
    keyPrefix: `rate:${name}`,
  }
  const shared = new RateLimiterRedis({
    ...limits,
    storeClient: redis,
    rejectIfRedisNotReady: true,
  })
  const own = new RateLimiterMemory(limits)
  return {
    async count(ctx) {
      const address = addressOf(ctx, trustedProxies)
      try {
        await own.consume(address)
        await shared.consume(address).catch(ignoreOutage)
      } catch (refusal) {
        if (refusal instanceof Error) throw refusal
        const { msBeforeNext } = refusal as RateLimiterRes
        ctx.responseHeaders.push('retry-after', String(Math.ceil(msBeforeNext / 1_000)))
        throw new Fault('rate_limited', 'Rate limit exceeded. Try again later.')
      }
    },
  }
}

/** The library tells a refusal from an outage by what it throws: only the latter is an Error. */
function ignoreOutage(reason: unknown): void {
  if (!(reason instanceof Error)) throw reason
}
