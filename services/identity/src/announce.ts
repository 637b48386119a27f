import { invalidateCaches } from '@windlass/runtime/cache-generation'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Redis } from '@windlass/runtime/redis/redis'
import * as pendingEpoch from './store/pending-epoch.ts'

/**
 * Replaces the `auth` epoch if a committed change asks for it, this caller's or one that an
 * earlier call could not announce. Throws `unavailable` when it cannot: nothing may be promised then.
 */
export async function announce(db: Db, redis: Redis): Promise<void> {
  const notes = await pendingEpoch.list(db)
  if (notes.length === 0) return
  await invalidateCaches(redis, 'auth')
  await pendingEpoch.settle(db, notes)
}
