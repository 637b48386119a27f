import type { Queries, Tx } from '@windlass/runtime/db'
import { type Sql, sql } from '@windlass/runtime/sql'
import type { Execution } from '../domain/execution.ts'
import { forChange, whole } from './columns.ts'

/** Locks rows in the order of their ids, which is the order everywhere, and waits for others' locks. */
export const lock = (tx: Tx, ids: readonly string[]) =>
  tx.rows<Execution>(sql`
    select ${forChange} from executions
     where execution_id = any(${ids}::uuid[])
     order by execution_id for update`)

/** Locks those rows that nobody else has: whoever leases does not wait. */
export const lockFree = (tx: Tx, ids: readonly string[]) =>
  tx.rows<Execution>(sql`
    select ${forChange} from executions
     where execution_id = any(${ids}::uuid[])
     order by execution_id for update skip locked`)

/** Those that somebody has locked. */
export async function lockedAmong(db: Queries, ids: readonly string[]): Promise<string[]> {
  const locked = await db.rows<{ execution_id: string }>(sql`
    with free as materialized (
      select execution_id from executions
       where execution_id = any(${ids}::uuid[]) for update skip locked)
    select execution_id from executions
     where execution_id = any(${ids}::uuid[])
       and execution_id not in (select execution_id from free)`)
  return locked.map(({ execution_id }) => execution_id)
}

/** Rows as they are, without a lock: for answers only. */
export const look = (db: Queries, ids: readonly string[]) =>
  db.rows<Execution>(
    sql`select ${forChange} from executions where execution_id = any(${ids}::uuid[])`,
  )

export const getMany = (db: Queries, ids: readonly string[]) =>
  db.rows<Execution>(sql`select ${whole} from executions where execution_id = any(${ids}::uuid[])`)

export const find = (db: Queries, id: string) =>
  db.maybe<Execution>(sql`select ${whole} from executions where execution_id = ${id}`)

/** A new execution as a caller wants it. */
export interface NewExecution {
  execution_id: string
  workflow_id: string
  workflow_namespace: string
  workflow_name: string
  workflow_version: number
  requirement_id: string
  preferred_worker?: string
  input_json: string
  created_by: string
  created_by_issuer: string
  schedule_id?: string
  request_hash: string
  /** What the routing policy takes from the input: JSON object of scalars by path. */
  routing_inputs?: string
  queue_timeout_ms?: number
}

/** Inserts what is not there yet; the caller says what it returns. */
export function newRows(rows: readonly NewExecution[]): Sql {
  const column = <K extends keyof NewExecution>(key: K) => rows.map((row) => row[key] ?? null)
  return sql`
    insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
      workflow_version, requirement_id, preferred_worker, input, created_by, created_by_issuer,
      schedule_id, request_hash, routing_inputs, queue_timeout_ms, state, queued_at, deadline_at)
    select new.*, 'SCHEDULED', clock_timestamp(),
           clock_timestamp() + queue_timeout_ms * interval '1 ms'
      from unnest(
        ${column('execution_id')}::uuid[], ${column('workflow_id')}::uuid[],
        ${column('workflow_namespace')}::text[], ${column('workflow_name')}::text[],
        ${column('workflow_version')}::int[], ${column('requirement_id')}::uuid[],
        ${column('preferred_worker')}::text[], ${column('input_json')}::json[],
        ${column('created_by')}::text[], ${column('created_by_issuer')}::text[],
        ${column('schedule_id')}::uuid[],
        ${column('request_hash')}::text[], ${column('routing_inputs')}::json[],
        ${column('queue_timeout_ms')}::float8[])
        as new(execution_id, workflow_id, workflow_namespace, workflow_name, workflow_version,
               requirement_id, preferred_worker, input, created_by, created_by_issuer, schedule_id,
               request_hash, routing_inputs, queue_timeout_ms)
    on conflict (execution_id) do nothing`
}

/** Answers the ids that were new. */
export async function insert(tx: Tx, rows: readonly NewExecution[]): Promise<Set<string>> {
  const made = await tx.rows<{ execution_id: string }>(sql`${newRows(rows)} returning execution_id`)
  return new Set(made.map(({ execution_id }) => execution_id))
}

/** What a command made of a row, and until when somebody has to act. */
export interface Changed {
  /** Absent: the row is new. */
  before?: Execution | undefined
  next: Execution
  deadlineMs: number | 'kept' | undefined
  /** A lease is void if its worker holds more than this by then; absent: it does not matter. */
  mostHeld?: number | undefined
}

/** How a row `e` becomes what `c` says. */
export const assignments = sql`
  workflow_id = c.workflow_id, workflow_version = c.workflow_version,
  requirement_id = c.requirement_id, state = c.state, held_by = c.held_by,
  held_session = c.held_session, held_connection = c.held_connection,
  worker_name = c.worker_name, claim_generation = c.claim_generation,
  queued_at = case when not c.queued then null else coalesce(e.queued_at, clock_timestamp()) end,
  deadline_at = case when c.deadline_ms = -1 then e.deadline_at
                     else clock_timestamp() + c.deadline_ms * interval '1 ms' end,
  attempts = c.attempts, completions = c.completions, resume_due = c.resume_due, gated = c.gated,
  queue_timeout_ms = c.queue_timeout_ms,
  pause_source_id = c.pause_source_id, preferred_worker = c.preferred_worker,
  passed_over = c.passed_over, last_seq = c.last_seq, revision = c.revision, output = c.output,
  pause_output = c.pause_output, updated_at = clock_timestamp(),
  finished_at = case when c.state in ('COMPLETED', 'FAILED', 'CANCELLED')
                     then clock_timestamp() end`

/** The changes as rows `c`. */
export function changed(changes: readonly Changed[]): Sql {
  const column = <K extends keyof Execution>(key: K) => changes.map(({ next }) => next[key] ?? null)
  const before = <K extends keyof Execution>(key: K) =>
    changes.map((change) => change.before?.[key] ?? null)
  const deadlines = changes.map(({ deadlineMs }) => (deadlineMs === 'kept' ? -1 : deadlineMs))
  return sql`unnest(
      ${column('execution_id')}::uuid[], ${column('workflow_id')}::uuid[],
      ${column('workflow_version')}::int[], ${column('requirement_id')}::uuid[],
      ${column('state')}::text[], ${column('held_by')}::text[],
      ${column('held_session')}::text[], ${column('held_connection')}::bigint[],
      ${column('worker_name')}::text[], ${column('claim_generation')}::bigint[],
      ${column('queued')}::bool[], ${deadlines}::float8[], ${column('attempts')}::int[],
      ${column('completions')}::int[], ${column('resume_due')}::bool[], ${column('gated')}::bool[],
      ${column('pause_source_id')}::text[], ${column('preferred_worker')}::text[],
      ${column('passed_over')}::text[], ${column('last_seq')}::bigint[], ${column('revision')}::bigint[],
      ${column('output_json')}::json[], ${column('pause_output_json')}::json[],
      ${before('state')}::text[], ${before('revision')}::bigint[],
      ${changes.map(({ mostHeld }) => mostHeld ?? null)}::int[], ${column('queue_timeout_ms')}::float8[])
      as c(execution_id, workflow_id, workflow_version, requirement_id, state, held_by,
           held_session, held_connection, worker_name, claim_generation, queued, deadline_ms,
           attempts, completions, resume_due, gated, pause_source_id, preferred_worker, passed_over,
           last_seq, revision, output, pause_output, old_state, old_revision, most_held,
           queue_timeout_ms)`
}

/** Writes rows that this transaction has locked. */
export const update = (tx: Tx, changes: readonly Changed[]): Promise<number> =>
  tx.run(sql`
    update executions e set ${assignments} from ${changed(changes)}
     where e.execution_id = c.execution_id`)
