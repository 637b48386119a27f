import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { ofLog } from './log.ts'

export interface LogGrowth {
  /** Bytes of the values. */
  bytes: number
  /** Absent: there are no entries. */
  last_seq?: number
}

/** Measures the values of a log after a position. */
export async function readGrowth(db: Queries, id: string, after_seq: number): Promise<LogGrowth> {
  const row = await db.maybe<LogGrowth>(sql`
    select coalesce(sum(octet_length(value::text)), 0)::float8 as bytes, max(seq) as last_seq
      from events where ${ofLog(id)} and seq > ${after_seq}::bigint`)
  return row ?? { bytes: 0 }
}

/** Measures the values of these events in a log. */
export async function readEvents(
  db: Queries,
  id: string,
  event_ids: readonly string[],
): Promise<number> {
  const row = await db.maybe<{ bytes: number }>(sql`
    select coalesce(sum(octet_length(value::text)), 0)::float8 as bytes
      from events
     where ${ofLog(id)} and event_id in (select unnest(${event_ids}::text[]))`)
  return row?.bytes ?? 0
}
