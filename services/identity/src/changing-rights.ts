import type { Db, Tx } from '@windlass/runtime/db'
import type { Redis } from '@windlass/runtime/redis'
import { announce } from './announce.ts'
import * as pendingEpoch from './store/pending-epoch.ts'

/** Commits a change of rights; every gateway has forgotten what was before when it is answered. */
export async function changingRights<T>(
  db: Db,
  redis: Redis,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const result = await db.tx(async (tx) => {
    const done = await work(tx)
    await pendingEpoch.add(tx)
    return done
  })
  await announce(db, redis)
  return result
}
