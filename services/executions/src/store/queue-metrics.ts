import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { terminalEvents } from './columns.ts'

/** Maximum length of the label that names the labels which a requirement asks. */
const MAX_AFFINITY_CHARS = 512

export interface QueuedByRequirement {
  requirement_id: string
  /** Labels that the requirement asks of a worker: `key=value,key=value`; empty: none. */
  affinity: string
  executions: number
  oldest_s: number
}

/**
 * Reads length and age of the ready queue by requirement, the longest queue first, from the index of the
 * queue.
 */
export const readQueueByRequirement = (db: Queries) =>
  db.rows<QueuedByRequirement>(sql`
    select requirement_id, executions, oldest_s,
           left(coalesce((select string_agg(key || '=' || value, ',' order by key)
                            from json_each_text(body->'affinity')), ''), ${MAX_AFFINITY_CHARS}) as affinity
      from (select requirement_id, count(*)::int as executions,
                   extract(epoch from clock_timestamp() - min(queued_at))::float8 as oldest_s
              from executions where queued_at is not null group by requirement_id) as queue
      join requirements using (requirement_id)
     order by executions desc, requirement_id`)

/**
 * Age in seconds of the oldest terminal event after the relay's cursor; absent: the cursor has passed all
 * of them.
 */
export const readRelayLag = (db: Queries) =>
  db.maybe<{ lag_s: number }>(sql`
    select extract(epoch from clock_timestamp() - x.updated_at)::float8 as lag_s
      from events e join executions x using (execution_id)
     where (e.xid, e.execution_id, e.seq) > (
             select xid, execution_id, seq from relay_cursor where name = 'executions'
             union all select '0', '00000000-0000-0000-0000-000000000000', 0 limit 1)
       and e.type in ${terminalEvents}
     order by e.xid, e.execution_id, e.seq limit 1`)
