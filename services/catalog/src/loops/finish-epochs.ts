import { invalidateCaches } from '@windlass/runtime/cache-generation'
import { Fault } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import type { Redis } from '@windlass/runtime/redis/redis'
import * as pendingEpochs from '../store/pending-epochs.ts'

/** Voids the caches for changes whose service died, or had no Redis, before it could. */
export async function finishEpochs(db: Db, redis: Redis, log: Logger): Promise<void> {
  const tokens = await pendingEpochs.list(db)
  if (tokens.length === 0) return
  try {
    await invalidateCaches(redis, 'catalog')
  } catch (error) {
    // Tried again in a second, not after a growing pause: until then others may see what was.
    if (!(error instanceof Fault)) throw error
    log.warn({ err: error, changes: tokens.length }, 'caches not voided yet')
    return
  }
  await pendingEpochs.clear(db, tokens)
}
