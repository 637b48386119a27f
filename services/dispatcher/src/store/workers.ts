import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { NameHolder } from '../domain/name-claim.ts'

/** Worker name and one of its connection generations. */
export interface Connection {
  name: string
  connection_generation: number
}

export interface Evicted extends Connection {
  /** Generation of the lost connection; undefined if the worker was never connected. */
  release_generation?: number
}

/** Time after the last sign of life of a dispatcher for which its streams count as live. */
const REPLICA_LIVE_SECONDS = 5

/** SQL condition on a row `w`: its stream is held by a dispatcher that is alive. */
export const hasLiveStream = sql`(w.connected and exists (
  select from replicas r where r.replica_id = w.replica_id
     and r.seen_at > now() - make_interval(secs => ${REPLICA_LIVE_SECONDS})))`

/** Process that registers a name. */
export interface Registrant {
  name: string
  session_id: string
  instance: string
  /** Seconds within which it reconnects; undefined: it promises nothing. */
  reconnect_grace: number | undefined
}

/** Inserts a name that was never registered; false if it exists. */
export async function claimName(
  tx: Tx,
  { name, session_id, instance, reconnect_grace }: Registrant,
): Promise<boolean> {
  const claimed = await tx.run(sql`
    insert into workers (name, session_id, instance, reconnect_grace)
    values (${name}, ${session_id}, ${instance}, ${reconnect_grace ?? null})
    on conflict (name) do nothing`)
  return claimed === 1
}

export const lockHolder = (tx: Tx, name: string) =>
  tx.maybe<NameHolder>(sql`
    select session_id, instance, ${hasLiveStream} as has_live_stream from workers w where name = ${name} for update`)

/** Renews the registration of the same process: it keeps its session, its stream and its work. */
export const renewRegistration = (tx: Tx, { name, reconnect_grace }: Registrant) =>
  tx.run(sql`
    update workers
       set registered_at = now(), last_seen_at = now(), changed_at = now(), evicted_at = null,
           reconnect_grace = ${reconnect_grace ?? null}
     where name = ${name}`)

/** Gives the name to another process and marks the work of the earlier one for release; returns the new generation. */
export async function replaceSession(
  tx: Tx,
  { name, session_id, instance, reconnect_grace }: Registrant,
): Promise<number> {
  const row = await tx.maybe<Connection>(sql`
    update workers
       set session_id = ${session_id}, instance = ${instance}, registered_at = now(), last_seen_at = now(),
           changed_at = now(), evicted_at = null, connected = false, replica_id = null, healthy = true,
           reconnect_grace = ${reconnect_grace ?? null},
           metrics = '{}', connection_generation = connection_generation + 1,
           release_generation = nullif(connection_generation, 0)
     where name = ${name} returning name, connection_generation`)
  return row?.connection_generation ?? 0
}

/** Ends the session of a name and marks its work for release; returns the new generation. */
export async function endSession(tx: Tx, name: string, session_id: string) {
  const row = await tx.maybe<Connection>(sql`
    update workers
       set session_id = ${session_id}, instance = '', changed_at = now(), evicted_at = now(),
           connected = false, replica_id = null, closed_generation = null,
           connection_generation = connection_generation + 1,
           release_generation = nullif(connection_generation, 0)
     where name = ${name} returning name, connection_generation`)
  return row?.connection_generation
}

/** Reads the current sessions of worker names. */
export const readSessions = (db: Queries, names: readonly string[]) =>
  db.rows<{ name: string; session_id: string }>(sql`
    select name, session_id from workers where name = any(${names}::text[])`)

/** True if the name was ever registered. */
export async function isRegistered(db: Queries, name: string): Promise<boolean> {
  return (await readSessions(db, [name])).length > 0
}
