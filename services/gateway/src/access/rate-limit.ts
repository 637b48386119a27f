import { Fault } from '@windlass/runtime/faults'
import { clientAddress } from '@windlass/runtime/http/client-address'
import type { Redis } from '@windlass/runtime/redis/redis'
import type { RateLimiterRes } from 'rate-limiter-flexible'
import type { RequestContext } from '../http/request-context.ts'
import { createRateCounters } from './rate-counters.ts'

const SECONDS: Record<string, number> = { second: 1, minute: 60, hour: 3_600 }

export interface RateLimit {
  /** Counts one more attempt of this client; throws `rate_limited` above the rate. */
  count(ctx: RequestContext): Promise<void>
  /** Takes back an attempt that was counted. */
  refund(ctx: RequestContext): Promise<void>
}

export interface Rate {
  /** Name of the counter in Redis. */
  name: string
  /** Like `30/minute`; empty for no limit. */
  rate: string
  /** Number of trusted hops in X-Forwarded-For. */
  trustedProxies: number
}

/**
 * Counts in Redis for all replicas together, and in each replica its own requests, so that the limit holds
 * while Redis is unavailable or after it was flushed.
 */
export function createRateLimit({ name, rate, trustedProxies }: Rate, redis: Redis): RateLimit {
  const [, points = '0', unit = ''] = /^(\d+)\/(\w+)$/.exec(rate) ?? []
  if (points === '0') return { count: async () => {}, refund: async () => {} }
  const limits = { points: Number(points), duration: SECONDS[unit] ?? 60 }
  const { shared, own } = createRateCounters(name, limits, redis)
  return {
    async count(ctx) {
      const address = clientAddress(ctx.req, trustedProxies)
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
    async refund(ctx) {
      const address = clientAddress(ctx.req, trustedProxies)
      await own.reward(address)
      await shared.reward(address).catch(ignoreOutage)
    },
  }
}

/** The library throws an Error for an outage and another value for a refusal. */
function ignoreOutage(reason: unknown): void {
  if (!(reason instanceof Error)) throw reason
}
