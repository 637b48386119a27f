import { invalidateCaches } from '@windlass/runtime/cache-generation'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Redis } from '@windlass/runtime/redis/redis'
import * as pendingInvalidations from '../store/pending-invalidations.ts'

/**
 * Commits a change of rights and replaces the cache generation before it returns, so no gateway
 * serves the old rights afterwards.
 *
 * The invalidation also runs after a refusal. A repeated revocation finds nothing to revoke, although
 * the first one may have committed and failed to reach Redis: its caller must not get an answer
 * before that invalidation is done.
 */
export async function commitAndInvalidate<T>(
  db: Db,
  redis: Redis,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  try {
    return await db.tx(async (tx) => {
      const result = await work(tx)
      await pendingInvalidations.add(tx)
      return result
    })
  } finally {
    await invalidatePending(db, redis)
  }
}

/**
 * Replaces the cache generation `auth` if a committed change requires it: the caller's, or one whose
 * replica stopped or lost Redis after its commit. Throws `unavailable` if Redis cannot be reached; the
 * change stands, its marker stays, and no answer may claim that the caches are invalid.
 */
export async function invalidatePending(db: Db, redis: Redis): Promise<void> {
  const positions = await pendingInvalidations.list(db)
  if (positions.length === 0) return
  await invalidateCaches(redis, 'auth')
  await pendingInvalidations.remove(db, positions)
}
