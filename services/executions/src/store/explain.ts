import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { queuedNamespaces, queueKey } from './ready.ts'

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

/** Maximum number of queue rows that are counted; a later position is answered as this number. */
const MAX_AHEAD = 9_999

/**
 * Reads requirement, holder, deadline and queue position of an execution. The position counts the
 * executions at a higher level, or at an equal one with more waiting time, in all namespaces.
 */
export const queueStatus = (db: Queries, execution_id: string) =>
  db.maybe<QueueStatus>(sql`
    with recursive own as (
      select e.*, ${queueKey} as key from executions e where e.execution_id = ${execution_id}),
    namespaces as (${queuedNamespaces(sql`array(select requirement_id from own where queued_at is not null)`)})
    select own.state, r.body, own.queued_at, own.held_by, own.deadline_at, own.parked,
           array(select replace(w.wakes_on::text, '-', '') from wake_conditions w
                  where own.parked and w.execution_id = own.execution_id
                    and w.claim_generation = own.claim_generation
                  order by w.wakes_on limit ${MAX_LISTED}) as wakes_on,
           case when own.queued_at is null then 0 else least(${MAX_AHEAD}, (
             select coalesce(sum(ahead), 0) from namespaces
              cross join lateral (
                select count(*) as ahead from (
                  select 1 from executions e
                   where e.requirement_id = own.requirement_id and e.queued_at is not null
                     and e.workflow_namespace = namespaces.workflow_namespace
                     and (${queueKey}, e.execution_id) < (own.key, own.execution_id)
                   limit ${MAX_AHEAD}) as earlier) as counted
              where workflow_namespace is not null)) + 1 end::int as queue_position
      from own join requirements r using (requirement_id)`)
