import type { Queries } from './db.ts'
import { sql } from './sql.ts'

/** Returns the time of the database's clock, which alone decides what is due: those of the processes may differ. */
export async function readClock(db: Queries): Promise<Date> {
  const row = await db.maybe<{ now: Date }>(sql`select clock_timestamp() as now`)
  return row?.now as Date
}
