import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { accountColumns, type Firing } from './ticks.ts'

/** How long until each kind of work is due, in milliseconds; negative when it is, undefined when there is none. */
export interface DueSummary {
  fire_ms: number | undefined
  retry_ms: number | undefined
  check_ms: number | undefined
  has_deleted: boolean
}

export interface DueSchedule
  extends Omit<
    Firing,
    'nominal_at' | 'execution_id' | 'attempts' | 'is_queued' | 'submit_before_ms'
  > {
  schedule_config: string
  anchor_at: Date
  next_run_at: Date
  /** When its last tick was settled. */
  released_at: Date | undefined
  now: Date
}

/** How a schedule that was due goes on. */
export interface NextRun {
  schedule_id: string
  next_run_at: Date | undefined
  /** A tick of it waits for acknowledgement now. */
  is_pending: boolean
  new_ticks: number
}

const msUntil = (first: ReturnType<typeof sql>) =>
  sql`(extract(epoch from (${first}) - now()) * 1000)::float8`

/** One statement that says whether anything is to be done, each answer from the end of an index. */
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

/** Enough for every replica to find some that the others have not locked. */
const CANDIDATES = 8

/**
 * Schedules whose tick has come, locked; those that another replica holds are left to it. Where there
 * are many, their owners take turns, so that the thousands of one do not delay those of others.
 */
export const lockDue = (tx: Tx, limit: number) =>
  tx.rows<DueSchedule>(sql`
    select s.id as schedule_id, workflow_namespace, workflow_name, input_bytes,
           ${accountColumns}, overlap, schedule_config, anchor_at, next_run_at, released_at, now() as now
      from unnest(array(
             select id
               from (select id, next_run_at, row_number() over (
                              partition by changed_by, changed_by_issuer order by next_run_at) as turn
                       from schedules s where ${isDue}) as due
              order by turn, next_run_at
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

/** Counts a tick that was recorded outside of a round. */
export const countTick = (tx: Tx, schedule_id: string) =>
  tx.run(sql`update schedules set tick_count = tick_count + 1 where id = ${schedule_id}`)
