import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { HANDED_OVER } from '../domain/hand-over.ts'
import { ofLog } from './log.ts'
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
  /** Worker that lost it while it was cancelled, so that another one may continue its compensations. */
  handed_over_by?: string
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
    select own.state, r.body, own.queued_at, nullif(own.held_by, ${HANDED_OVER}) as held_by, own.deadline_at, own.parked,
           case when own.state = 'CANCELLING' then own.passed_over end as handed_over_by,
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

/** Entries at the end of a log in which compensations are looked for. */
const MAX_ENTRIES = 2_000

/** Member of the TASK_STARTED of the first compensation of a saga: the calls of all of them, in their order. */
const COMPENSATIONS = '~compensations'

/**
 * Reads the calls of compensations without an outcome, if the log of a cancelled execution ends with a reason: the
 * cancel was then not confirmed by its workflow. At most MAX_LISTED.
 */
export async function listUndone(db: Queries, execution_id: string): Promise<string[]> {
  const rows = await db.rows<{ call_id: string }>(sql`
    with log as materialized (
      select seq, type, source_id,
             case when type = 'TASK_STARTED' then value -> ${COMPENSATIONS} end as planned,
             case when type = 'WORKFLOW_CANCELLED' then json_typeof(value) end as reason
        from events
       where ${ofLog(execution_id)} and seq > (
         select last_seq - ${MAX_ENTRIES} from executions where execution_id = ${execution_id}))
    select call_id
      from log
     cross join lateral json_array_elements_text(
             case when json_typeof(planned) = 'array' then planned end) with ordinality as plan(call_id, place)
     where exists (select from log as ends where ends.reason = 'object')
       and not exists (select from log as ended
                        where ended.source_id = call_id and ended.type in ('TASK_COMPLETED', 'TASK_FAILED'))
     group by call_id order by min(seq), min(place) limit ${MAX_LISTED}`)
  return rows.map(({ call_id }) => call_id)
}
