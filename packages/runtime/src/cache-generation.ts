import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from './faults.ts'
import type { Redis } from './redis/redis.ts'

export type CacheName = 'auth' | 'catalog'

/**
 * For how long from when it was asked for an epoch may be taken for the current one, in milliseconds.
 * Short, since each change waits for it; longer than the few requests that one execution makes.
 */
export const GENERATION_LEASE_MS = 25

/** A timer may ring a millisecond early; clocks of two hosts do not run alike. */
const MARGIN_MS = 2

const keyOf = (name: CacheName) => `epoch:${name}`
const newGeneration = () => randomBytes(12).toString('hex')

/**
 * The current epoch, or undefined while Redis is away (then nothing may be taken from a cache).
 * A missing one is written anew: whatever was cached under an older one is void.
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
 * Voids every cache filed under the epoch. Called by the owner after its commit and before its
 * answer; a random token, since a counter could repeat after a flush. Returns when nobody takes the
 * one before it for the current one any more. Throws `unavailable` when it cannot be done: the
 * caller's change stands, but its answer must not promise it.
 */
export async function invalidateCaches(redis: Redis, name: CacheName): Promise<void> {
  try {
    await redis.set(keyOf(name), newGeneration())
  } catch (error) {
    throw unavailable('the change was made but cannot be announced yet', error)
  }
  await sleep(GENERATION_LEASE_MS + MARGIN_MS)
}
