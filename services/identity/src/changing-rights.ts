import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Redis } from '@windlass/runtime/redis/redis'
import { announce } from './announce.ts'
import * as pendingEpoch from './store/pending-epoch.ts'

/**
 * Commits a change of rights; every gateway has forgotten what was before when it is answered. A
 * refusal is an answer too: that there is nothing left to revoke may be due to an earlier call that
 * could not announce what it did.
 */
export async function changingRights<T>(
  db: Db,
  redis: Redis,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  try {
    return await db.tx(async (tx) => {
      const done = await work(tx)
      await pendingEpoch.add(tx)
      return done
    })
  } finally {
    await announce(db, redis)
  }
}
