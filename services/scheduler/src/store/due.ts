import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { accountColumns } from './account-columns.ts'
import type { Firing } from './ticks.ts'

/** Milliseconds until each kind of work is due; 0 or less: due now; undefined: no work of the kind. */
export interface DueSummary {
  fire_ms: number | undefined
  retry_ms: number | undefined
  check_ms: number | undefined
  has_deleted: boolean
}

export interface DueSchedule
  extends Omit<
    Firing,
    'nominal_at' | 'execution_id' | 'attempts' | 'is_queued' | 'submit_before_ms' | 'not_after'
  > {
  schedule_config: string
  anchor_at: Date
  next_run_at: Date
  /** Time at which its last tick was settled. */
  released_at: Date | undefined
  now: Date
}

/** New state of a schedule that was due. */
export interface NextRun {
  schedule_id: string
  next_run_at: Date | undefined
  /** True if one of its ticks now waits for its outcome. */
  is_pending: boolean
  new_ticks: number
}

const msUntil = (first: ReturnType<typeof sql>) =>
  sql`(extract(epoch from (${first}) - now()) * 1000)::float8`

/** Reads when work is due, in one statement; each value is read from the end of an index. */
export const readDueSummary = (db: Queries) =>
  db.maybe<DueSummary>(sql`
    select ${msUntil(sql`
             select min(next_run_at) from schedules
              where status = 'active' and not pending and next_run_at is not null`)} as fire_ms,
           ${msUntil(sql`
             select min(retry_at) from schedule_ticks where retry_at is not null`)} as retry_ms,
           ${msUntil(sql`
             select min(check_at) from schedule_ticks where check_at is not null`)} as check_ms,
           exists (select from deleted_schedules) as has_deleted`)

const isDue = sql`s.status = 'active' and not s.pending and s.next_run_at <= now()`

/** Candidates per schedule to take, so that each replica finds rows that the others have not locked. */
const CANDIDATES = 8

/**
 * Locks due schedules and skips those that another replica has locked. Ordered round-robin by owner, so
 * that thousands of schedules of one owner do not delay those of other owners.
 */
export const lockDue = (tx: Tx, limit: number) =>
  tx.rows<DueSchedule>(sql`
    select s.id as schedule_id, workflow_namespace, workflow_name, input_bytes,
           ${accountColumns}, overlap, schedule_config, anchor_at, next_run_at, released_at, now() as now
      from unnest(array(
             select id
               from (select id, next_run_at, row_number() over (
                              partition by changed_by, changed_by_issuer order by next_run_at) as position
                       from schedules s where ${isDue}) as due
              order by position, next_run_at
              limit ${limit * CANDIDATES})) with ordinality as candidate (id, place)
      join schedules s on s.id = candidate.id
     where ${isDue}
     order by candidate.place
     limit ${limit}
     for update of s skip locked`)

export const advance = (tx: Tx, moves: NextRun[]) =>
  tx.run(sql`
    update schedules s
       set next_run_at = m.next_run_at, pending = m.pending, tick_count = s.tick_count + m.ticks
      from unnest(${moves.map((move) => move.schedule_id)}::uuid[],
                  ${moves.map((move) => move.next_run_at)}::timestamptz[],
                  ${moves.map((move) => move.is_pending)}::boolean[],
                  ${moves.map((move) => move.new_ticks)}::int[]) as m (id, next_run_at, pending, ticks)
     where s.id = m.id`)

/** Counts a tick that was recorded outside of `advance`. */
export const countTick = (tx: Tx, schedule_id: string) =>
  tx.run(sql`update schedules set tick_count = tick_count + 1 where id = ${schedule_id}`)
