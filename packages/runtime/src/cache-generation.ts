/*
 * Cache generations: how every replica stops using cached data after a change, without messages.
 *
 * Problem. The gateway caches principals, permissions and workflow metadata. After a change of
 * permissions is acknowledged, no replica may decide by the old ones. Broadcast invalidation cannot
 * promise that: a message to a partitioned replica is lost, and nothing tells the sender.
 *
 * Protocol. For each cache there is one random token in Redis, its generation. A cache entry is
 * stored together with the generation that was current before it was fetched, and is used only
 * while that generation is current.
 *
 *      reader (gateway)                  Redis               owner (identity, catalog)
 *        |-- get generation ----------->|                          |
 *        |<- g1 ------------------------|                          |
 *        |   valid for GENERATION_LEASE_MS from the request        |
 *        |                              |                          | commit in Postgres,
 *        |                              |                          | with a marker row
 *        |                              |<------- set g2 ----------|
 *        |                              |                          | wait for the lease
 *        |   lease has ended            |                          | answer the client
 *        |-- get generation ----------->|                          |
 *        |<- g2: entries of g1 ignored -|                          |
 *
 * The owner waits one lease after it has replaced the token and before it answers. A reader may rely
 * on a token for one lease, counted from when it sent the request, so at the time of the answer no
 * reader relies on the old token any more.
 *
 * What is decided where. Postgres decides what is true. Redis decides only whether a cached copy may
 * be used. Local time bounds the lease on the monotonic clock of each process; MARGIN_MS covers
 * timers that fire early and clocks that run at different rates.
 *
 * Failures.
 * - Redis is unavailable to a reader: it has no generation, uses no cache and asks the owner.
 * - Redis is unavailable to the owner: the change is committed, the call answers `unavailable`, and
 *   the marker row makes the owner's loop replace the token later. The client may retry.
 * - The owner crashes between commit and `set`: the marker row has the same effect.
 * - Redis loses its data: a reader creates a new random token, which no entry carries. A counter
 *   could return to a value that old entries carry; a random token cannot.
 *
 * Cost. One Redis command per process and lease, shared by all requests in it (the reader batches),
 * and GENERATION_LEASE_MS added to each change. The lease is longer than the few requests of one
 * execution and short enough for a change of permissions to feel immediate.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from './faults.ts'
import type { Redis } from './redis/redis.ts'

export type CacheName = 'auth' | 'catalog'

/** How long a generation may be relied on, in milliseconds from the request for it. Each change waits as long. */
export const GENERATION_LEASE_MS = 25

/** Timers can fire a millisecond early, and the clocks of two hosts run at different rates. */
const MARGIN_MS = 2

const keyOf = (name: CacheName) => `epoch:${name}`
const newGeneration = () => randomBytes(12).toString('hex')

/**
 * Reads the current generation; creates one if Redis has none, so that older entries are ignored.
 * Answers undefined while Redis is unavailable: then no cached entry may be used.
 */
export async function readGeneration(redis: Redis, name: CacheName): Promise<string | undefined> {
  try {
    const known = await redis.get(keyOf(name))
    if (known) return known
    await redis.set(keyOf(name), newGeneration(), 'NX')
    return (await redis.get(keyOf(name))) ?? undefined
  } catch {
    return undefined
  }
}

/**
 * Replaces the generation, so that cached entries of all replicas are ignored, and returns when no
 * replica relies on the old one. The owner calls it after its commit and before its answer. Throws
 * `unavailable` if Redis is: the change is committed, but the answer must not promise that it is
 * effective.
 */
export async function invalidateCaches(redis: Redis, name: CacheName): Promise<void> {
  try {
    await redis.set(keyOf(name), newGeneration())
  } catch (error) {
    throw unavailable('the change is committed but not yet effective everywhere; retry', error)
  }
  await sleep(GENERATION_LEASE_MS + MARGIN_MS)
}
