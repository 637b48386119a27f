import type { Db } from '@windlass/runtime/db'
import { sql } from '@windlass/runtime/sql'
import type { Execution } from '../domain/execution.ts'
import { forChange } from './columns.ts'
import type { Changed, NewExecution } from './executions.ts'
import type { Entry } from './log.ts'
import type { Delta } from './totals.ts'

export interface ReadAlone extends Execution {
  /** Those of the asked events that the log has already: type and id, side by side. */
  known_types: string[]
  known_ids: string[]
}

/** A row without a lock, with the events that are known, of one moment. */
export const read = (db: Db, execution_id: string, event_ids: readonly string[]) =>
  db.maybe<ReadAlone>(sql`
    select ${forChange}, known.types as known_types, known.ids as known_ids
      from executions e
     cross join lateral (
       select coalesce(array_agg(type), '{}') as types, coalesce(array_agg(event_id), '{}') as ids
         from events k
        where k.execution_id = e.execution_id and k.event_id = any(${event_ids}::text[])) as known
     where e.execution_id = ${execution_id}`)

/** A new row and its total. False: there was one already. */
export async function insert(db: Db, row: NewExecution): Promise<boolean> {
  const made = await db.run(sql`
    with made as (
      insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
        workflow_version, requirement_id, preferred_worker, input, created_by,
        created_by_issuer, schedule_id, request_hash, routing_inputs, queue_timeout_ms, state, queued_at, deadline_at)
      values (${row.execution_id}, ${row.workflow_id}, ${row.workflow_namespace},
        ${row.workflow_name}, ${row.workflow_version}, ${row.requirement_id},
        ${row.preferred_worker ?? null}, ${row.input_json}::json, ${row.created_by},
        ${row.created_by_issuer}, ${row.schedule_id ?? null}, ${row.request_hash},
        ${row.routing_inputs ?? null}::json, ${row.queue_timeout_ms ?? null}::float8, 'SCHEDULED',
        clock_timestamp(),
        clock_timestamp() + ${row.queue_timeout_ms ?? null}::float8 * interval '1 ms')
      on conflict (execution_id) do nothing
      returning workflow_namespace, workflow_name, state)
    insert into totals_delta (workflow_namespace, workflow_name, state, delta)
    select workflow_namespace, workflow_name, state, 1 from made`)
  return made > 0
}

export interface WriteAlone {
  before: Execution
  change: Changed
  entries: readonly Entry[]
  deltas: readonly Delta[]
}

/** Row, log and totals in one statement. False: the row is not as it was read, and nothing was written. */
export async function write(db: Db, { before, change, entries, deltas }: WriteAlone) {
  const { next, deadlineMs } = change
  const entry = <K extends keyof Entry>(key: K) => entries.map((one) => one[key])
  const deadline = deadlineMs === 'kept' ? -1 : (deadlineMs ?? null)
  const row = await db.maybe(sql`
    with changed as (
      update executions
         set workflow_id = ${next.workflow_id}, workflow_version = ${next.workflow_version},
             requirement_id = ${next.requirement_id}, state = ${next.state},
             held_by = ${next.held_by ?? null}, held_session = ${next.held_session ?? null},
             held_connection = ${next.held_connection ?? null},
             worker_name = ${next.worker_name ?? null}, claim_generation = ${next.claim_generation},
             queued_at = case when ${!next.queued}::bool then null
                              else coalesce(queued_at, clock_timestamp()) end,
             deadline_at = case when ${deadline}::float8 = -1 then deadline_at
                                else clock_timestamp() + ${deadline}::float8 * interval '1 ms' end,
             attempts = ${next.attempts}, completions = ${next.completions},
             resume_due = ${next.resume_due}, gated = ${next.gated},
             queue_timeout_ms = ${next.queue_timeout_ms ?? null},
             pause_source_id = ${next.pause_source_id ?? null},
             preferred_worker = ${next.preferred_worker ?? null},
             passed_over = ${next.passed_over ?? null}, last_seq = ${next.last_seq},
             revision = ${next.revision}, output = ${next.output_json ?? null}::json,
             pause_output = ${next.pause_output_json ?? null}::json,
             updated_at = clock_timestamp(),
             finished_at = case when ${next.state}::text in ('COMPLETED', 'FAILED', 'CANCELLED')
                                then clock_timestamp() end
       where execution_id = ${before.execution_id} and revision = ${before.revision}
      returning execution_id),
    appended as (
      insert into events (execution_id, seq, event_id, type, source_id, name, value, time)
      select changed.execution_id, e.*
        from changed, unnest(${entry('seq')}::bigint[], ${entry('event_id')}::text[],
          ${entry('type')}::text[], ${entry('source_id')}::text[], ${entry('name')}::text[],
          ${entry('value_json')}::json[], ${entry('time')}::text[]) as e),
    counted as (
      insert into totals_delta (workflow_namespace, workflow_name, state, delta)
      select d.* from changed, unnest(${deltas.map((d) => d.workflow_namespace)}::text[],
        ${deltas.map((d) => d.workflow_name)}::text[], ${deltas.map((d) => d.state)}::text[],
        ${deltas.map((d) => d.delta)}::int[]) as d)
    select execution_id from changed`)
  return row !== undefined
}
