import { invalidateCaches } from '@windlass/runtime/cache-generation'
import { newId } from '@windlass/runtime/ids'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import type { Loop } from '@windlass/runtime/process/loop'
import type { Redis } from '@windlass/runtime/redis/redis'
import * as pendingEpochs from './store/pending-epochs.ts'

export interface Changing {
  db: Db
  redis: Redis
  /** Publishes the events of the change. */
  relay: Loop
  log: Logger
}

/**
 * The only way in which the catalog changes: commit, then void the caches, then answer. Throws
 * `unavailable` when the change stands but the caches do not know of it; a loop goes on trying.
 */
export async function change<T>(
  { db, redis, relay, log }: Changing,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const token = newId()
  const result = await db.tx(async (tx) => {
    const done = await work(tx)
    await pendingEpochs.add(tx, token)
    return done
  })
  relay.wake()
  await invalidateCaches(redis, 'catalog')
  try {
    await pendingEpochs.clear(db, [token])
  } catch (error) {
    log.warn({ err: error }, 'epoch marker left behind')
  }
  return result
}
