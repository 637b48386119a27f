import type { Db } from '@windlass/runtime/postgres/db'
import { deleteOldTicks } from '../store/old-ticks.ts'

interface TickRetention {
  tick_days: number
  batch_size: number
}

/**
 * Creates the round that deletes old ticks, one page of schedules at a time; resolves to true until a sweep
 * is complete.
 */
export function createTickSweep(db: Db, { tick_days: days, batch_size: limit }: TickRetention) {
  let after: string | undefined
  return async (): Promise<boolean> => {
    const { last, deleted } = await deleteOldTicks(db, { after, days, limit })
    // Repeats the page until it has no more ticks to delete.
    if (deleted === 0) after = last
    return last !== undefined
  }
}
