import { invalidateCaches } from '@windlass/runtime/cache-generation'
import { Fault } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import type { Redis } from '@windlass/runtime/redis/redis'
import * as pendingInvalidations from '../store/pending-invalidations.ts'

/** Replaces the cache generation for changes whose process crashed, or lost Redis, after the commit. */
export async function invalidatePending(db: Db, redis: Redis, log: Logger): Promise<void> {
  const tokens = await pendingInvalidations.list(db)
  if (tokens.length === 0) return
  try {
    await invalidateCaches(redis, 'catalog')
  } catch (error) {
    // Retried at the next poll without backoff: until then caches may serve outdated versions.
    if (!(error instanceof Fault)) throw error
    log.warn({ err: error, changes: tokens.length }, 'failed to invalidate caches')
    return
  }
  await pendingInvalidations.remove(db, tokens)
}
