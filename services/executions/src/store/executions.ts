import type { Queries, Tx } from '@windlass/runtime/db'
import { type Sql, sql } from '@windlass/runtime/sql'
import type { Execution } from '../domain/execution.ts'
import { forChange, whole } from './columns.ts'
import { rowsOf } from './rows.ts'

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

const NEW_COLUMNS = [
  ['execution_id', 'uuid'],
  ['workflow_id', 'uuid'],
  ['workflow_namespace', 'text'],
  ['workflow_name', 'text'],
  ['workflow_version', 'int'],
  ['requirement_id', 'uuid'],
  ['preferred_worker', 'text'],
  ['input', 'json'],
  ['created_by', 'text'],
  ['created_by_issuer', 'text'],
  ['schedule_id', 'uuid'],
  ['request_hash', 'text'],
  ['routing_inputs', 'json'],
  ['queue_timeout_ms', 'float8'],
] as const

/** Inserts what is not there yet; the caller says what it returns. */
export const newRows = (rows: readonly NewExecution[]): Sql => sql`
  insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
    workflow_version, requirement_id, preferred_worker, input, created_by, created_by_issuer,
    schedule_id, request_hash, routing_inputs, queue_timeout_ms, state, queued_at, deadline_at)
  select new.*, 'SCHEDULED', clock_timestamp(),
         clock_timestamp() + queue_timeout_ms * interval '1 ms'
    from ${rowsOf('new', NEW_COLUMNS, rows.map(newCellsOf))}
  on conflict (execution_id) do nothing`

const newCellsOf = (row: NewExecution): unknown[] => [
  row.execution_id,
  row.workflow_id,
  row.workflow_namespace,
  row.workflow_name,
  row.workflow_version,
  row.requirement_id,
  row.preferred_worker,
  row.input_json,
  row.created_by,
  row.created_by_issuer,
  row.schedule_id,
  row.request_hash,
  row.routing_inputs,
  row.queue_timeout_ms,
]

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

/** Of each change what goes into its row `c`, in the order of the columns. */
const cellsOf = ({ before, next, deadlineMs, mostHeld }: Changed): unknown[] => [
  next.execution_id,
  next.workflow_id,
  next.workflow_version,
  next.requirement_id,
  next.state,
  next.held_by,
  next.held_session,
  next.held_connection,
  next.worker_name,
  next.claim_generation,
  next.queued,
  deadlineMs === 'kept' ? -1 : deadlineMs,
  next.attempts,
  next.completions,
  next.resume_due,
  next.gated,
  next.pause_source_id,
  next.preferred_worker,
  next.passed_over,
  next.last_seq,
  next.revision,
  next.output_json,
  next.pause_output_json,
  before?.state,
  before?.revision,
  mostHeld,
  next.queue_timeout_ms,
]

const COLUMNS = [
  ['execution_id', 'uuid'],
  ['workflow_id', 'uuid'],
  ['workflow_version', 'int'],
  ['requirement_id', 'uuid'],
  ['state', 'text'],
  ['held_by', 'text'],
  ['held_session', 'text'],
  ['held_connection', 'bigint'],
  ['worker_name', 'text'],
  ['claim_generation', 'bigint'],
  ['queued', 'bool'],
  ['deadline_ms', 'float8'],
  ['attempts', 'int'],
  ['completions', 'int'],
  ['resume_due', 'bool'],
  ['gated', 'bool'],
  ['pause_source_id', 'text'],
  ['preferred_worker', 'text'],
  ['passed_over', 'text'],
  ['last_seq', 'bigint'],
  ['revision', 'bigint'],
  ['output', 'json'],
  ['pause_output', 'json'],
  ['old_state', 'text'],
  ['old_revision', 'bigint'],
  ['most_held', 'int'],
  ['queue_timeout_ms', 'float8'],
] as const

/** The changes as rows `c`. */
export const changed = (changes: readonly Changed[]): Sql =>
  rowsOf('c', COLUMNS, changes.map(cellsOf))

/** Writes rows that this transaction has locked. */
export const update = (tx: Tx, changes: readonly Changed[]): Promise<number> =>
  tx.run(sql`
    update executions e set ${assignments} from ${changed(changes)}
     where e.execution_id = c.execution_id`)
