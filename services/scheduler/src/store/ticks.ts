import type { OverlapPolicy } from '@windlass/domain/overlap'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { UnfinishedTick } from '../domain/overlap.ts'
import { accountColumns } from './account-columns.ts'

/** A tick for which an execution must be started. */
export interface Firing {
  schedule_id: string
  nominal_at: Date
  execution_id: string
  workflow_namespace: string
  workflow_name: string
  input_bytes: number
  /** Subject whose permissions apply, with its issuer; empty if the schedule has no account. */
  run_as: string
  run_as_issuer: string
  /** True if an anonymous caller changed the schedule last. */
  is_anonymous: boolean
  overlap: OverlapPolicy
  attempts: number
  /** True if it waits for earlier executions. */
  is_queued: boolean
  /** Submission deadline on the monotonic clock of the replica that leased it. */
  submit_before_ms: number
  /** Time on the database's clock after which executions does not create it. */
  not_after?: Date | undefined
  /**
   * Milliseconds until no earlier attempt can create the execution any more; negative: since then. Absent: no earlier
   * attempt has asked for it.
   */
  open_ms?: number | undefined
}

/** Outcome of a firing. */
export interface Outcome {
  firing: Pick<Firing, 'schedule_id' | 'nominal_at'>
  status: 'started' | 'failed' | 'skipped' | 'queued'
  /** Version that was started. */
  workflow_id: string | undefined
  state: string | undefined
  error: string | undefined
  started_at: Date | undefined
  /** Ignored if an attempt may have started the execution in the meantime. */
  unless_submitted?: boolean
}

export interface SkippedRange {
  schedule_id: string
  first: Date
  last: Date
  reason: string
}

export interface Unfinished {
  execution_id: string
}

export interface TickRow {
  nominal_at: Date
  status: 'pending' | 'queued' | 'started' | 'failed' | 'skipped'
  skipped_from: Date | undefined
  execution_id: string | undefined
  state: string | undefined
  error: string | undefined
  started_at: Date | undefined
  completed_at: Date | undefined
}

const FIRST_CHECK_SECONDS = 30
const LAST_CHECK_SECONDS = 3_600
/** Interval of checks of the first queued tick, in case the event of the earlier execution was lost. */
const QUEUE_CHECK_SECONDS = 5

/** Schedules of rows that were inserted. */
type Inserted<More = unknown> = Promise<({ schedule_id: string } & More)[]>

/**
 * Inserts firings. The primary key, schedule and nominal time, admits no second firing of a tick: a tick that has a
 * row, because the database's clock was set back, is left out. Their executions may be created until the lease ends.
 */
export const insertFirings = (
  tx: Tx,
  firings: Firing[],
  leaseMs: number,
): Inserted<{ not_after: Date }> =>
  tx.rows(sql`
    insert into schedule_ticks (schedule_id, nominal_at, status, execution_id, retry_at, submit_until)
    select f.*, now() + ${leaseMs}::float8 * interval '1 ms', now() + ${leaseMs}::float8 * interval '1 ms'
      from (select unnest(${firings.map((firing) => firing.schedule_id)}::uuid[]),
                   unnest(${firings.map((firing) => firing.nominal_at)}::timestamptz[]),
                   'pending',
                   unnest(${firings.map((firing) => firing.execution_id)}::uuid[])) as f
    on conflict do nothing returning schedule_id, submit_until as not_after`)

/** Records skipped ticks; a range whose last tick has a row is left out. */
export const insertSkipped = (tx: Tx, skipped: SkippedRange[]): Inserted =>
  tx.rows(sql`
    insert into schedule_ticks (schedule_id, nominal_at, status, skipped_from, error)
    select s.schedule_id, s.last, 'skipped', s.first, s.reason
      from unnest(${skipped.map((span) => span.schedule_id)}::uuid[],
                  ${skipped.map((span) => span.first)}::timestamptz[],
                  ${skipped.map((span) => span.last)}::timestamptz[],
                  ${skipped.map((span) => span.reason)}::text[]) as s (schedule_id, first, last, reason)
    on conflict do nothing returning schedule_id`)

export interface UnacknowledgedTick extends Omit<Firing, 'submit_before_ms'> {
  age_ms: number
  /** True if its schedule is paused. */
  is_paused: boolean
}

/** Leases unacknowledged firings for `leaseMs`; ends the retries of those whose schedule was deleted. */
export const leaseUnacknowledged = (db: Queries, limit: number, leaseMs: number) =>
  db.rows<UnacknowledgedTick>(sql`
    with late as (
      select schedule_id, nominal_at from schedule_ticks
       where retry_at <= now()
       order by retry_at limit ${limit}
       for update skip locked
    ), taken as (
      update schedule_ticks t
         set attempts = t.attempts + 1,
             retry_at = (select now() + ${leaseMs}::float8 * interval '1 ms'
                           from schedules s where s.id = t.schedule_id)
        from late
       where t.schedule_id = late.schedule_id and t.nominal_at = late.nominal_at
       returning t.*
    )
    select t.schedule_id, t.nominal_at, t.execution_id, t.attempts,
           s.workflow_namespace, s.workflow_name, s.input_bytes, s.overlap, ${accountColumns},
           t.status = 'queued' as is_queued, s.status = 'paused' as is_paused,
           (extract(epoch from now() - t.nominal_at) * 1000)::float8 as age_ms,
           (extract(epoch from t.submit_until - now()) * 1000)::float8 as open_ms
      from taken t join schedules s on s.id = t.schedule_id`)

/**
 * Records that the executions of leased ticks may be created for `forMs` from now. Returns those that may be submitted,
 * with that time: not a tick that was settled or whose schedule was paused. Schedules are locked before ticks and in id
 * order, as everywhere, so a pause or an outcome comes before or after this.
 */
export const recordSubmissions = (db: Queries, firings: Outcome['firing'][], forMs: number) =>
  db.rows<{ execution_id: string; not_after: Date }>(sql`
    with active as materialized (
      select id from schedules
       where id = any(${firings.map((firing) => firing.schedule_id)}::uuid[]) and status = 'active'
       order by id for share)
    update schedule_ticks t set submit_until = now() + ${forMs}::float8 * interval '1 ms'
      from active
      join unnest(${firings.map((firing) => firing.schedule_id)}::uuid[],
                  ${firings.map((firing) => firing.nominal_at)}::timestamptz[]) as f (schedule_id, nominal_at)
        on f.schedule_id = active.id
     where t.schedule_id = f.schedule_id and t.nominal_at = f.nominal_at and t.status in ('pending', 'queued')
    returning t.execution_id, t.submit_until as not_after`)

export const postpone = (db: Queries, firings: Outcome['firing'][], delaysMs: number[]) =>
  db.run(sql`
    update schedule_ticks t
       set retry_at = now() + p.delay_ms * interval '1 ms'
      from unnest(${firings.map((firing) => firing.schedule_id)}::uuid[],
                  ${firings.map((firing) => firing.nominal_at)}::timestamptz[],
                  ${delaysMs}::float8[]) as p (schedule_id, nominal_at, delay_ms)
     where t.schedule_id = p.schedule_id and t.nominal_at = p.nominal_at and t.status in ('pending', 'queued')`)

/**
 * Stores outcomes and releases the schedules for their next tick. A firing that is already settled
 * keeps its first outcome. Schedules are locked before ticks and in id order, which excludes deadlocks.
 */
export async function acknowledge(tx: Tx, outcomes: Outcome[]): Promise<void> {
  const ids = outcomes.map(({ firing }) => firing.schedule_id)
  await tx.run(sql`select id from schedules where id = any(${ids}::uuid[]) order by id for update`)
  await tx.run(sql`
    with o as (
      select * from unnest(
        ${ids}::uuid[],
        ${outcomes.map(({ firing }) => firing.nominal_at)}::timestamptz[],
        ${outcomes.map(({ status }) => status)}::text[],
        ${outcomes.map(({ workflow_id }) => workflow_id)}::uuid[],
        ${outcomes.map(({ state }) => state)}::text[],
        ${outcomes.map(({ error }) => error)}::text[],
        ${outcomes.map(({ started_at }) => started_at)}::timestamptz[],
        ${outcomes.map(({ unless_submitted }) => unless_submitted ?? false)}::boolean[]
      ) as o (schedule_id, nominal_at, status, workflow_id, state, error, started_at, unless_submitted)
    ), open as (
      select o.*, t.status = 'pending' as was_pending
        from o join schedule_ticks t using (schedule_id, nominal_at)
       where t.status in ('pending', 'queued') and (not o.unless_submitted or t.submit_until is null)
    ), settled as (
      update schedule_ticks t
         set status = o.status, error = coalesce(t.error, o.error), retry_at = null,
             state = coalesce(t.state, o.state), started_at = o.started_at,
             execution_id = case when o.status <> 'skipped' then t.execution_id end,
             skipped_from = case when o.status = 'skipped' then t.nominal_at end,
             submit_until = case when o.status = 'queued' and t.attempts > 0 then t.submit_until end,
             check_at = case when o.status = 'started' and t.completed_at is null
                             then now() + ${FIRST_CHECK_SECONDS}::int * interval '1 s' end
        from open o
       where t.schedule_id = o.schedule_id and t.nominal_at = o.nominal_at
       returning o.*
    ), summed as (
      select schedule_id, bool_or(was_pending) as was_pending,
             (array_agg(workflow_id order by nominal_at desc)
                filter (where workflow_id is not null))[1] as workflow_id,
             max(nominal_at) filter (where status = 'started') as last_run_at,
             count(*) filter (where status = 'started') as runs,
             count(*) filter (where status = 'failed') as failures
        from settled group by schedule_id
    )
    update schedules s
       set pending = s.pending and not summed.was_pending,
           released_at = case when summed.was_pending then clock_timestamp() else s.released_at end,
           workflow_id = coalesce(summed.workflow_id, s.workflow_id),
           last_run_at = greatest(s.last_run_at, summed.last_run_at),
           run_count = s.run_count + summed.runs,
           failure_count = s.failure_count + summed.failures
      from summed
     where s.id = summed.schedule_id`)
  await checkFirstQueued(tx, ids)
}

/** Schedules a check of the first queued tick of each of these locked schedules; later ones wait for it. */
const checkFirstQueued = (tx: Tx, schedule_ids: string[]) =>
  tx.run(sql`
    update schedule_ticks t
       set retry_at = now() + ${QUEUE_CHECK_SECONDS}::int * interval '1 s'
      from (select distinct on (schedule_id) schedule_id, nominal_at from schedule_ticks
             where schedule_id = any(${schedule_ids}::uuid[]) and status = 'queued'
             order by schedule_id, nominal_at) as first
     where t.schedule_id = first.schedule_id and t.nominal_at = first.nominal_at
       and t.retry_at is null`)

interface EarlierTick extends UnfinishedTick {
  schedule_id: string
  /** Nominal time of the later tick that is being decided. */
  later_at: Date
}

/** Earlier ticks of the same schedule that are unfinished according to the stored state, oldest first. */
export const listUnfinishedBefore = (db: Queries, firings: Firing[]) =>
  db.rows<EarlierTick>(sql`
    select t.schedule_id, f.nominal_at as later_at, t.nominal_at, t.status, t.execution_id, t.state,
           t.submit_until is not null as may_have_started
      from unnest(${firings.map((firing) => firing.schedule_id)}::uuid[],
                  ${firings.map((firing) => firing.nominal_at)}::timestamptz[])
             as f (schedule_id, nominal_at)
      join schedule_ticks t on t.schedule_id = f.schedule_id and t.nominal_at < f.nominal_at
     where t.status in ('pending', 'queued')
        or (t.status = 'started' and t.completed_at is null)
     order by t.nominal_at`)

/**
 * Skips the queued ticks of a locked schedule, except those that an attempt may have started: they are settled when
 * that is known.
 */
export async function skipQueued(tx: Tx, schedule_id: string, reason: string): Promise<void> {
  await tx.run(sql`
    update schedule_ticks
       set status = 'skipped', skipped_from = nominal_at, execution_id = null, retry_at = null,
           error = ${reason}
     where schedule_id = ${schedule_id} and status = 'queued' and submit_until is null`)
  await checkFirstQueued(tx, [schedule_id])
}

/**
 * Takes unfinished executions whose check is due. The interval of checks grows with their age, from
 * 30 s to 1 h.
 */
export const takeUnfinished = (db: Queries, limit: number) =>
  db.rows<Unfinished>(sql`
    with unfinished as (
      select schedule_id, nominal_at from schedule_ticks
       where check_at <= now()
       order by check_at limit ${limit}
       for update skip locked
    )
    update schedule_ticks t
       set check_at = (select now() + least(greatest(now() - t.started_at,
                                                     ${FIRST_CHECK_SECONDS}::int * interval '1 s'),
                                            ${LAST_CHECK_SECONDS}::int * interval '1 s')
                         from schedules s where s.id = t.schedule_id)
      from unfinished
     where t.schedule_id = unfinished.schedule_id and t.nominal_at = unfinished.nominal_at
     returning t.execution_id`)

export interface FinishedExecution {
  execution_id: string
  state: string
  completed_at: Date
  error: string | undefined
}

/**
 * Stores a result, before or after the firing was acknowledged; safe to repeat. Returns the
 * schedule of the tick.
 */
export const saveFinished = (db: Queries, finished: FinishedExecution) =>
  db.maybe<{ schedule_id: string }>(sql`
    update schedule_ticks
       set state = ${finished.state}, completed_at = coalesce(completed_at, ${finished.completed_at}),
           error = coalesce(error, ${finished.error}), check_at = null
     where execution_id = ${finished.execution_id}
     returning schedule_id`)

/** Locks the schedule that started an execution. */
export const lockSchedule = (tx: Tx, execution_id: string) =>
  tx.run(sql`
    select s.id from schedules s
      join schedule_ticks t on t.schedule_id = s.id and t.execution_id = ${execution_id}
       for update of s`)

/** Counts an execution that ended FAILED, once, while its result is not stored. Its schedule is locked. */
export const countFailure = (tx: Tx, execution_id: string) =>
  tx.run(sql`
    update schedules s set failure_count = s.failure_count + 1
      from schedule_ticks t
     where t.schedule_id = s.id and t.execution_id = ${execution_id} and t.completed_at is null`)

/** Makes the check of the first queued tick due now; true if a tick is queued. */
export const wakeFirstQueued = async (db: Queries, schedule_id: string): Promise<boolean> =>
  (await db.run(sql`
    update schedule_ticks set retry_at = now()
     where schedule_id = ${schedule_id} and status = 'queued' and retry_at > now()`)) > 0

export const saveState = (db: Queries, execution_id: string, state: string) =>
  db.run(sql`
    update schedule_ticks set state = ${state}
     where execution_id = ${execution_id} and completed_at is null`)

/** Newest first. */
export const listPage = (db: Queries, schedule_id: string, limit: number, offset: number) =>
  db.rows<TickRow>(sql`
    select nominal_at, status, skipped_from, execution_id, state, error, started_at, completed_at
      from schedule_ticks where schedule_id = ${schedule_id}
     order by nominal_at desc limit ${limit} offset ${offset}`)

/** Deletes up to `limit` ticks of a deleted schedule; true if there may be more. */
export async function purge(tx: Tx, limit: number): Promise<boolean> {
  const deleted_schedule = await tx.maybe<{ schedule_id: string }>(
    sql`select schedule_id from deleted_schedules limit 1 for update skip locked`,
  )
  if (!deleted_schedule) return false
  const deleted = await tx.run(sql`
    delete from schedule_ticks
     where schedule_id = ${deleted_schedule.schedule_id} and nominal_at in (
       select nominal_at from schedule_ticks where schedule_id = ${deleted_schedule.schedule_id} limit ${limit})`)
  if (deleted < limit)
    await tx.run(
      sql`delete from deleted_schedules where schedule_id = ${deleted_schedule.schedule_id}`,
    )
  return true
}
