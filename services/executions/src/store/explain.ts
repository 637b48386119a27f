import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export interface QueueStatus {
  state: string
  /** The requirement as it is stored. */
  body: string
  /** From 1; 0 if not queued. */
  queue_position: number
  queued_at?: Date
  held_by?: string
  deadline_at?: Date
  parked: boolean
  /** Executions whose end wakes it; at most MAX_LISTED. */
  wakes_on: string[]
}

const MAX_LISTED = 100

/** Rows of the queue that are counted at most; a later position is answered as the last one. */
const MAX_AHEAD = 9_999

/** Requirement, holder, deadline and queue position of an execution. */
export const queueStatus = (db: Queries, execution_id: string) =>
  db.maybe<QueueStatus>(sql`
    select e.state, r.body, e.queued_at, e.held_by, e.deadline_at, e.parked,
           array(select replace(w.wakes_on::text, '-', '') from wake_conditions w
                  where e.parked and w.execution_id = e.execution_id
                    and w.claim_generation = e.claim_generation
                  order by w.wakes_on limit ${MAX_LISTED}) as wakes_on,
           case when e.queued_at is null then 0 else 1 + (
             select count(*) filter (where (-first.priority, first.queued_at, first.execution_id)
                                         < (-e.priority, e.queued_at, e.execution_id))
               from (select o.priority, o.queued_at, o.execution_id from executions o
                      where o.requirement_id = e.requirement_id and o.queued_at is not null
                      order by o.priority desc, o.queued_at, o.execution_id
                      limit ${MAX_AHEAD}) as first) end as queue_position
      from executions e join requirements r using (requirement_id)
     where e.execution_id = ${execution_id}`)
