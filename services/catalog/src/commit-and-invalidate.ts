import { invalidateCaches } from '@windlass/runtime/cache-generation'
import { newId } from '@windlass/runtime/ids'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import type { Loop } from '@windlass/runtime/process/loop'
import type { Redis } from '@windlass/runtime/redis/redis'
import * as pendingInvalidations from './store/pending-invalidations.ts'

export interface CommitDeps {
  db: Db
  redis: Redis
  /** Publishes the events of the change. */
  relay: Loop
  log: Logger
}

/**
 * Changes the catalog: commits the change with a marker row, replaces the cache generation, deletes
 * the marker. Every change takes this path. Throws `unavailable` if the change is committed but the
 * generation is not replaced: the loop `invalidatePending` finds the marker and retries.
 */
export async function commitAndInvalidate<T>(
  { db, redis, relay, log }: CommitDeps,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const token = newId()
  const result = await db.tx(async (tx) => {
    const done = await work(tx)
    await pendingInvalidations.add(tx, token)
    return done
  })
  relay.wake()
  await invalidateCaches(redis, 'catalog')
  try {
    await pendingInvalidations.remove(db, [token])
  } catch (error) {
    log.warn({ err: error }, 'failed to delete invalidation marker')
  }
  return result
}
