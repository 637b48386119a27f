import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { Sql, sql } from '@windlass/runtime/postgres/sql'
import { errorOf } from '../domain/error-line.ts'
import type { Execution } from '../domain/execution.ts'
import { forChange, head, terminalStates, whole } from './columns.ts'
import { type Column, rowsOf } from './row-values.ts'

/** Locks rows in the order of their ids, which is used everywhere, and waits for other locks. */
export const lock = (tx: Tx, ids: readonly string[]) =>
  tx.rows<Execution>(sql`
    select ${forChange} from executions
     where execution_id = any(${ids}::uuid[])
     order by execution_id for update`)

/** Locks the rows that are not locked, and skips the others. */
export const lockAvailable = (tx: Tx, ids: readonly string[]) =>
  tx.rows<Execution>(sql`
    select ${forChange} from executions
     where execution_id = any(${ids}::uuid[])
     order by execution_id for update skip locked`)

/** Returns the ids of rows that are locked now. */
export async function findLocked(db: Queries, ids: readonly string[]): Promise<string[]> {
  const locked = await db.rows<{ execution_id: string }>(sql`
    with free as materialized (
      select execution_id from executions
       where execution_id = any(${ids}::uuid[]) for update skip locked)
    select execution_id from executions
     where execution_id = any(${ids}::uuid[])
       and execution_id not in (select execution_id from free)`)
  return locked.map(({ execution_id }) => execution_id)
}

/** Reads rows without a lock: for answers, never for a decision. */
export const readUnlocked = (db: Queries, ids: readonly string[]) =>
  db.rows<Execution>(
    sql`select ${forChange} from executions where execution_id = any(${ids}::uuid[])`,
  )

/** Reads complete rows, with inputs of any size. */
export const getMany = (db: Queries, ids: readonly string[]) =>
  db.rows<Execution>(sql`select ${whole} from executions where execution_id = any(${ids}::uuid[])`)

/** Reads rows without their payloads, because an input may have megabytes. */
export const getHeads = (db: Queries, ids: readonly string[]) =>
  db.rows<Execution>(sql`select ${head} from executions where execution_id = any(${ids}::uuid[])`)

export const find = (db: Queries, id: string) =>
  db.maybe<Execution>(sql`select ${whole} from executions where execution_id = ${id}`)

/** A new execution as requested. */
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
  depth: number
  parent_id?: string
  cancel_with_parent: boolean
  /** From 0 to 9. */
  priority: number
  request_hash: string
  /** Values of the input that the routing policy names: JSON object of scalars by path. */
  routing_inputs?: string
  queue_timeout_ms?: number
  reply_to?: string
  /** JSON object whose values are texts. */
  tags_json?: string
  /** W3C trace context of the create; absent: not traced. */
  traceparent?: string | undefined
  /** Execution that it repeats, or whose log it begins with. */
  origin_id?: string
  fork?: Fork
  /** Partition of the log; absent: 0. */
  log_part?: number
  /** Time on the database's clock after which it is not inserted; absent: no limit. */
  not_after?: Date | undefined
}

/** The part of the log of `origin_id` with which a fork begins. */
export interface Fork {
  /** Last entry of the origin that the fork may begin with. */
  after_seq: number
  /** Entries that it begins with, in their order; absent until they are read. */
  seqs?: readonly number[]
  completions?: number
}

export const NEW_COLUMNS: Column<NewExecution>[] = [
  ['execution_id', 'uuid', (row) => row.execution_id],
  ['workflow_id', 'uuid', (row) => row.workflow_id],
  ['workflow_namespace', 'text', (row) => row.workflow_namespace],
  ['workflow_name', 'text', (row) => row.workflow_name],
  ['workflow_version', 'int', (row) => row.workflow_version],
  ['requirement_id', 'uuid', (row) => row.requirement_id],
  ['preferred_worker', 'text', (row) => row.preferred_worker],
  ['input', 'json', (row) => row.input_json],
  ['created_by', 'text', (row) => row.created_by],
  ['created_by_issuer', 'text', (row) => row.created_by_issuer],
  ['schedule_id', 'uuid', (row) => row.schedule_id],
  ['request_hash', 'text', (row) => row.request_hash],
  ['routing_inputs', 'json', (row) => row.routing_inputs],
  ['queue_timeout_ms', 'float8', (row) => row.queue_timeout_ms],
  ['depth', 'int', (row) => row.depth],
  ['reply_to', 'text', (row) => row.reply_to],
  ['parent_id', 'uuid', (row) => row.parent_id],
  ['cancel_with_parent', 'bool', (row) => row.cancel_with_parent],
  ['tags', 'json', (row) => row.tags_json],
  ['priority', 'int', (row) => row.priority],
  ['traceparent', 'text', (row) => row.traceparent],
  ['origin_id', 'uuid', (row) => row.origin_id],
  ['log_part', 'int', (row) => row.log_part ?? 0],
]

/** Their names, for inserts. */
export const newColumns = new Sql([NEW_COLUMNS.map(([name]) => name).join(', ')], [])

/** Inserts the rows that do not exist yet; a part of a statement, without its `returning` clause. */
export const insertIfAbsent = (rows: readonly NewExecution[]): Sql => sql`
  insert into executions (${newColumns}, state, queued_at, deadline_at, input_bytes)
  select new.*, 'SCHEDULED', clock_timestamp(),
         clock_timestamp() + queue_timeout_ms * interval '1 ms', octet_length(input::text)
    from ${rowsOf('new', NEW_COLUMNS, rows)}
   where ${mayStart(rows)}
  on conflict (execution_id) do nothing`

/**
 * Condition of the rows `new`. A create may wait for any time, in the socket of a process that is stopped: it must not
 * start what its sender has since treated as never started (`not_after`), nor what retention has deleted under an
 * idempotency key that is still valid.
 */
export function mayStart(rows: readonly NewExecution[]): Sql {
  const keyed = rows.filter(({ request_hash }) => request_hash !== '')
  const limited = rows.filter(({ not_after }) => not_after)
  if (keyed.length + limited.length === 0) return sql`true`
  return sql`new.execution_id <> all (array(
    select execution_id from deleted_executions
     where execution_id = any(${keyed.map(idOf)}::uuid[]) and refused_until >= clock_timestamp()
    union all
    select late.execution_id
      from unnest(${limited.map(idOf)}::uuid[], ${limited.map(({ not_after }) => not_after)}::timestamptz[])
             as late (execution_id, not_after)
     where late.not_after < clock_timestamp()))`
}

const idOf = ({ execution_id }: NewExecution) => execution_id

/** Writes the tags of the rows `inserted`, as another part of the same statement. */
export const insertTags = (rows: readonly NewExecution[]): Sql =>
  rows.some(({ tags_json }) => tags_json !== undefined)
    ? sql`, tagged as (
      insert into execution_tags (key, value, created_at, execution_id)
      select tag.key, tag.value, inserted.created_at, inserted.execution_id
        from inserted, json_each_text(inserted.tags) as tag)`
    : sql``

/** Inserts rows and returns the ids that were new. */
export async function insert(tx: Tx, rows: readonly NewExecution[]): Promise<Set<string>> {
  const inserted = await tx.rows<{ execution_id: string }>(sql`
    with inserted as (${insertIfAbsent(rows)} returning execution_id, created_at, tags)
    ${insertTags(rows)}
    select execution_id from inserted`)
  return new Set(inserted.map(({ execution_id }) => execution_id))
}

/** New content of a row, and its deadline. */
export interface RowUpdate {
  /** Absent: the row is new. */
  before?: Execution | undefined
  next: Execution
  deadlineMs: number | 'kept' | undefined
  /** True if it entered the ready queue in this batch, even if it had been queued before. */
  enteredQueue: boolean
  /** The lease is skipped if its worker then holds more than this number; absent: no limit. */
  maxHeld?: number | undefined
}

/** Assignments from the update `c` to the row `e`. */
export const assignments = sql`
  workflow_id = c.workflow_id, workflow_version = c.workflow_version,
  requirement_id = c.requirement_id, state = c.state, held_by = c.held_by,
  held_session = c.held_session, held_connection = c.held_connection,
  worker_name = c.worker_name, claim_generation = c.claim_generation,
  delivered_generation = c.delivered_generation,
  continuable_generation = c.continuable_generation,
  queued_at = case when c.enters_queue then clock_timestamp()
                   when not c.enters_queue then e.queued_at end,
  deadline_at = case when c.deadline_ms = -1 then e.deadline_at
                     else clock_timestamp() + c.deadline_ms * interval '1 ms' end,
  attempts = c.attempts, completions = c.completions, resume_due = c.resume_due, gated = c.gated,
  queue_timeout_ms = c.queue_timeout_ms,
  pause_source_id = c.pause_source_id, preferred_worker = c.preferred_worker,
  parked = c.parked, passed_over = c.passed_over, last_seq = c.last_seq, revision = c.revision, output = c.output,
  pause_output = c.pause_output, updated_at = clock_timestamp(),
  finished_at = case when c.state in ${terminalStates}
                     then clock_timestamp() end,
  started_at = coalesce(e.started_at, case when c.attempts > 0 then clock_timestamp() end),
  output_bytes = octet_length(c.output::text), error = c.error`

/** Columns of the updates `c`; `old_` columns are conditions. */
const COLUMNS: Column<RowUpdate>[] = [
  ['execution_id', 'uuid', ({ next }) => next.execution_id],
  ['workflow_id', 'uuid', ({ next }) => next.workflow_id],
  ['workflow_version', 'int', ({ next }) => next.workflow_version],
  ['requirement_id', 'uuid', ({ next }) => next.requirement_id],
  ['state', 'text', ({ next }) => next.state],
  ['held_by', 'text', ({ next }) => next.held_by],
  ['held_session', 'text', ({ next }) => next.held_session],
  ['held_connection', 'bigint', ({ next }) => next.held_connection],
  ['worker_name', 'text', ({ next }) => next.worker_name],
  ['claim_generation', 'bigint', ({ next }) => next.claim_generation],
  ['delivered_generation', 'bigint', ({ next }) => next.delivered_generation],
  ['continuable_generation', 'bigint', ({ next }) => next.continuable_generation],
  // Null: not queued.
  ['enters_queue', 'bool', ({ next, enteredQueue }) => (next.queued ? enteredQueue : undefined)],
  ['deadline_ms', 'float8', ({ deadlineMs }) => (deadlineMs === 'kept' ? -1 : deadlineMs)],
  ['attempts', 'int', ({ next }) => next.attempts],
  ['completions', 'int', ({ next }) => next.completions],
  ['resume_due', 'bool', ({ next }) => next.resume_due],
  ['gated', 'bool', ({ next }) => next.gated],
  ['pause_source_id', 'text', ({ next }) => next.pause_source_id],
  ['preferred_worker', 'text', ({ next }) => next.preferred_worker],
  ['passed_over', 'text', ({ next }) => next.passed_over],
  ['last_seq', 'bigint', ({ next }) => next.last_seq],
  ['revision', 'bigint', ({ next }) => next.revision],
  ['output', 'json', ({ next }) => next.output_json],
  ['pause_output', 'json', ({ next }) => next.pause_output_json],
  ['old_state', 'text', ({ before }) => before?.state],
  ['old_revision', 'bigint', ({ before }) => before?.revision],
  ['most_held', 'int', ({ maxHeld }) => maxHeld],
  ['queue_timeout_ms', 'float8', ({ next }) => next.queue_timeout_ms],
  ['parked', 'bool', ({ next }) => next.parked],
  ['error', 'text', ({ next }) => errorOf(next)],
]

/** The updates as rows `c` of a statement. */
export const rowUpdates = (changes: readonly RowUpdate[]): Sql => rowsOf('c', COLUMNS, changes)

/** Updates rows that this transaction has locked. */
export const update = (tx: Tx, changes: readonly RowUpdate[]): Promise<number> =>
  tx.run(sql`
    update executions e set ${assignments} from ${rowUpdates(changes)}
     where e.execution_id = c.execution_id`)
