import type { Db } from '@windlass/runtime/postgres/db'
import { deleteOldTicks } from '../store/old-ticks.ts'

interface TickRetention {
  tick_days: number
  batch_size: number
}

/** Creates the round that deletes old ticks, a page of schedules at a time; true until a sweep is complete. */
export function createTickSweep(db: Db, { tick_days: days, batch_size: limit }: TickRetention) {
  let after: string | undefined
  return async (): Promise<boolean> => {
    const { last, deleted } = await deleteOldTicks(db, { after, days, limit })
    // The same page again, until it has none.
    if (deleted === 0) after = last
    return last !== undefined
  }
}
