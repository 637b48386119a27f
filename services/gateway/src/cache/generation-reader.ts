import { Batcher } from '@windlass/runtime/batcher'
import {
  type CacheName,
  GENERATION_LEASE_MS,
  readGeneration,
} from '@windlass/runtime/cache-generation'
import type { Redis } from '@windlass/runtime/redis/redis'

const CONCURRENCY = 2
const RENEW_AFTER_MS = GENERATION_LEASE_MS / 2

/**
 * A point in time on two clocks: only the wall clock runs while a host sleeps, and only the monotonic clock
 * is never set.
 */
type Moment = readonly [running_ms: number, wall_ms: number]

const moment = (): Moment => [performance.now(), Date.now()]

/** Reads the current generation; undefined while Redis does not answer. */
export type ReadGeneration = () => Promise<string | undefined>

interface Lease {
  generation: string
  connection: number
  requested_at: Moment
}

/**
 * Creates a reader of the current generation. A generation is a lease: it is valid for
 * GENERATION_LEASE_MS from the moment of the request, a time that the owner waits after it has replaced
 * it (Gray and Cheriton, "Leases", SOSP 1989). A lease in use is renewed in the background. Without a
 * valid lease concurrent callers share one read; a caller never joins a read that is already under way,
 * since its result may be older than the call. A generation is bound to one connection: after a
 * reconnect, Redis or its replacement may have an old one.
 */
export function createGenerationReader(
  redis: Redis,
  name: CacheName,
  now = moment,
): ReadGeneration {
  let connection = 0
  let lease: Lease | undefined
  let isRenewing = false
  redis.on('ready', () => connection++)

  async function read(): Promise<string | undefined> {
    const request = { connection, requested_at: now() }
    const known = await readGeneration(redis, name)
    if (known === undefined || request.connection !== connection) return undefined
    const generation = `${connection} ${known}`
    if (!lease || lease.requested_at[0] <= request.requested_at[0])
      lease = { ...request, generation }
    return generation
  }
  const reads = new Batcher<undefined, string | undefined>(
    async (calls) => {
      const generation = await read()
      return calls.map(() => generation)
    },
    { concurrency: CONCURRENCY, maxBatchSize: 10_000 },
  )
  async function renew(): Promise<void> {
    if (isRenewing) return
    isRenewing = true
    await reads.add(undefined)
    isRenewing = false
  }

  return async () => {
    if (lease?.connection !== connection) return reads.add(undefined)
    const { generation, requested_at } = lease
    const [running_ms, wall_ms] = now()
    const ages_ms = [running_ms - requested_at[0], wall_ms - requested_at[1]]
    if (Math.min(...ages_ms) < 0 || Math.max(...ages_ms) >= GENERATION_LEASE_MS)
      return reads.add(undefined)
    if (Math.max(...ages_ms) >= RENEW_AFTER_MS) void renew()
    return generation
  }
}
