import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'

export interface WorkerSession {
  prefix: string
  token_hash: Buffer
  worker_name: string
  session_id: string
  /** Name of the worker token that it was registered with. */
  worker_token?: string | undefined
}

interface NewSession extends WorkerSession {
  /** Time of the registration that it renews; absent: now. */
  registered_at?: Date | undefined
}

/** Serializes transactions that change the sessions of one worker. */
export const lockWorker = (tx: Tx, worker_name: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`session ${worker_name}`}, 0))`)

export const insert = (
  tx: Tx,
  { prefix, token_hash, worker_name, session_id, worker_token, registered_at }: NewSession,
) =>
  tx.run(sql`
    insert into worker_sessions
      (prefix, token_hash, worker_name, session_id, worker_token, created_at, registered_at)
    values (${prefix}, ${token_hash}, ${worker_name}, ${session_id}, ${worker_token ?? null},
            clock_timestamp(), coalesce(${registered_at ?? null}::timestamptz, clock_timestamp()))`)

/**
 * Time of the earliest registration among the tokens that a worker still has; undefined if all have ended.
 * The earliest, so that a renewal with an old token does not get the age of a newer registration.
 */
export async function findRegisteredAt(tx: Tx, worker_name: string): Promise<Date | undefined> {
  const row = await tx.maybe<{ registered_at?: Date }>(sql`
    select min(registered_at) as registered_at from worker_sessions
     where worker_name = ${worker_name} and ended_at is null`)
  return row?.registered_at
}

/**
 * Ends the tokens of a worker's other sessions, and all but the `keep` newest of this one. Returns their
 * number.
 */
export const endOthers = (tx: Tx, worker_name: string, session_id: string, keep: number) =>
  tx.run(sql`
    update worker_sessions set ended_at = now()
     where prefix in (
       select prefix from (
         select prefix, session_id,
                row_number() over (partition by session_id order by created_at desc) as age
           from worker_sessions
          where worker_name = ${worker_name} and ended_at is null
       ) live
        where session_id <> ${session_id}::uuid or age > ${keep}::int)`)

interface LiveSession extends WorkerSession {
  idle_s: number
  /** Seconds since its registration. */
  age_s: number
  /** Restrictions of its worker token. */
  restrictions_json?: string
}

/** Session of a prefix, unless it has ended. */
export const findLive = (db: Queries, prefix: string) =>
  db.maybe<LiveSession>(sql`
    select s.prefix, s.token_hash, worker_name, session_id, worker_token,
           restrictions::text as restrictions_json,
           extract(epoch from now() - last_used_at)::float8 as idle_s,
           extract(epoch from now() - registered_at)::float8 as age_s
      from worker_sessions s left join worker_tokens t on t.name = s.worker_token
     where s.prefix = ${prefix} and ended_at is null`)

/** Ends all sessions of a worker; returns their number. */
export const endAll = (tx: Tx, worker_name: string) =>
  tx.run(sql`
    update worker_sessions set ended_at = now()
     where worker_name = ${worker_name} and ended_at is null`)

/** Ends all sessions that were registered with a worker token; returns the names of their workers. */
export async function endOfToken(tx: Tx, worker_token: string): Promise<string[]> {
  const rows = await tx.rows<{ worker_name: string }>(sql`
    update worker_sessions set ended_at = now()
     where worker_token = ${worker_token} and ended_at is null returning worker_name`)
  return [...new Set(rows.map(({ worker_name }) => worker_name))]
}

/** Updates `last_used_at`. */
export const touch = (db: Queries, prefix: string) =>
  db.run(sql`update worker_sessions set last_used_at = now() where prefix = ${prefix}`)

/** Limits of sessions, in seconds; a `maxAgeS` of 0 means no limit. */
export interface SessionLimits {
  idleS: number
  maxAgeS: number
}

/** Ends tokens that are beyond a limit, at most `limit` for each; returns their number. */
export async function endExpired(
  tx: Tx,
  { idleS, maxAgeS }: SessionLimits,
  limit: number,
): Promise<number> {
  const idle = await endOlder(tx, sql`last_used_at`, idleS, limit)
  return maxAgeS > 0 ? idle + (await endOlder(tx, sql`registered_at`, maxAgeS, limit)) : idle
}

/** One statement for each limit: no index answers either of two conditions in an order. */
const endOlder = (tx: Tx, at: Sql, ageS: number, limit: number) =>
  tx.run(sql`
    update worker_sessions set ended_at = now()
     where prefix in (
       select prefix from worker_sessions
        where ended_at is null and ${at} < now() - make_interval(secs => ${ageS}::float8)
        order by ${at} limit ${limit}
        for update skip locked)`)

/** Deletes sessions that ended more than `keepMs` ago; returns their number. */
export const deleteEnded = (db: Queries, keepMs: number, limit: number) =>
  db.run(sql`
    delete from worker_sessions
     where prefix in (
       select prefix from worker_sessions
        where ended_at < now() - ${keepMs}::float8 * interval '1 ms'
        order by ended_at limit ${limit}
        for update skip locked)`)
