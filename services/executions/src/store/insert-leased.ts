import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import {
  mayStart,
  NEW_COLUMNS,
  type NewExecution,
  newColumns,
  type RowUpdate,
} from './executions.ts'
import { isLocked } from './ready.ts'
import { type Column, rowsOf } from './row-values.ts'

/** A new row with its lease, if it gets one. */
export interface LeasedRow {
  row: NewExecution
  lease: RowUpdate | undefined
}

/** Columns of a lease; null in rows without one. */
const LEASE_COLUMNS: Column<LeasedRow>[] = [
  ['held_by', 'text', ({ lease }) => lease?.next.held_by],
  ['held_session', 'text', ({ lease }) => lease?.next.held_session],
  ['held_connection', 'bigint', ({ lease }) => lease?.next.held_connection],
  ['claim_generation', 'bigint', ({ lease }) => lease?.next.claim_generation],
  ['delivered_generation', 'bigint', ({ lease }) => lease?.next.delivered_generation],
  ['continuable_generation', 'bigint', ({ lease }) => lease?.next.continuable_generation],
  ['attempts', 'int', ({ lease }) => lease?.next.attempts],
  ['last_seq', 'bigint', ({ lease }) => lease?.next.last_seq],
  ['revision', 'bigint', ({ lease }) => lease?.next.revision],
  ['deadline_ms', 'float8', ({ lease }) => deadlineMsOf(lease)],
  ['most_held', 'int', ({ lease }) => lease?.maxHeld],
]

const deadlineMsOf = (lease: RowUpdate | undefined) =>
  lease?.deadlineMs === 'kept' ? undefined : lease?.deadlineMs

const LEASED_COLUMNS: Column<LeasedRow>[] = [
  ...NEW_COLUMNS.map(([name, type, of]): Column<LeasedRow> => [name, type, ({ row }) => of(row)]),
  ...LEASE_COLUMNS,
]

/**
 * Inserts the rows that do not exist yet; a part of a statement, without its `returning` clause, like
 * `insertIfAbsent`. A row whose worker is full, by the loads `held` of the statement, is queued instead of
 * leased. `offset 0` keeps the planner from computing `is_leased` again for each column.
 */
export const insertLeasedIfAbsent = (rows: readonly LeasedRow[]): Sql => sql`
  insert into executions (${newColumns}, state, queued_at, deadline_at, input_bytes, held_by,
    held_session, held_connection, worker_name, claim_generation, delivered_generation,
    continuable_generation, attempts, last_seq, revision, started_at)
  select ${newColumns}, 'SCHEDULED', case when not is_leased then clock_timestamp() end,
         clock_timestamp() + case when is_leased then deadline_ms else queue_timeout_ms end * interval '1 ms',
         octet_length(input::text),
         case when is_leased then held_by end, case when is_leased then held_session end,
         case when is_leased then held_connection end, case when is_leased then held_by end,
         case when is_leased then claim_generation else 0 end,
         case when is_leased then delivered_generation end,
         case when is_leased then continuable_generation end,
         case when is_leased then attempts else 0 end,
         case when is_leased then last_seq else 0 end,
         case when is_leased then revision else 0 end,
         case when is_leased and attempts > 0 then clock_timestamp() end
    from (select new.*, new.held_by is not null and (new.most_held is null or new.most_held >=
            coalesce((select used from held where held.worker_name = new.held_by), 0)) as is_leased
            from ${rowsOf('new', LEASED_COLUMNS, rows)} where ${isLocked}
             and ${mayStart(rows.map(({ row }) => row))} offset 0) as leased
  on conflict (execution_id) do nothing`
