import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { DEPARTURE_WINDOW_S, type Departure } from '../domain/departures.ts'
import type { Connection, Evicted } from './workers.ts'

/** SQL: seconds without a sign of life after which a worker that closed its stream is a candidate. */
const quietLimit = sql`greatest(w.reconnect_grace, ${DEPARTURE_WINDOW_S})`

/** SQL condition on a row `w`: its worker closed its newest stream and has been quiet for longer than promised. */
export const isDeparted: Sql = sql`(w.evicted_at is null and w.closed_generation = w.connection_generation
  and w.reconnect_grace is not null
  and greatest(w.quiet_since, w.last_seen_at) < now() - make_interval(secs => ${quietLimit}))`

export interface ClosedStream extends Connection {
  age_ms: number
}

/** Stores that workers closed their streams, unless a newer connection exists. */
export const recordClosed = (db: Queries, closed: readonly ClosedStream[]) =>
  db.run(sql`
    update workers w
       set closed_generation = c.generation, quiet_since = c.at,
           disconnected_at = case when w.connected then c.at else w.disconnected_at end
      from (select b.name, b.generation, now() - b.age_ms * interval '1 millisecond' as at
              from unnest(${closed.map(({ name }) => name)}::text[],
                          ${closed.map((it) => it.connection_generation)}::bigint[],
                          ${closed.map(({ age_ms }) => age_ms)}::integer[]) as b (name, generation, age_ms)
              join workers on workers.name = b.name order by b.name for update of workers) as c
     where w.name = c.name and w.connection_generation = c.generation
       and w.closed_generation is distinct from c.generation`)

export interface ActiveWorker {
  name: string
  /** Undefined: the newest registration of the name. */
  session_id: string | undefined
  age_ms: number
}

/** Stores signs of life of workers whose streams are closed; those of other workers change nothing. */
export const recordActive = (db: Queries, active: readonly ActiveWorker[]) =>
  db.run(sql`
    update workers w set quiet_since = greatest(w.quiet_since, now() - mine.age_ms * interval '1 millisecond')
      from (select name, b.age_ms from workers
              join unnest(${active.map(({ name }) => name)}::text[],
                          ${active.map((it) => it.session_id ?? null)}::uuid[],
                          ${active.map(({ age_ms }) => age_ms)}::integer[]) as b (name, session, age_ms)
             using (name)
             where closed_generation is not null and session_id = coalesce(b.session, session_id)
             order by name for update of workers) as mine
     where w.name = mine.name`)

/** Lists candidates for early eviction, by name. */
export async function candidates(db: Queries, limit: number): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select name from workers w where ${isDeparted} order by name limit ${limit}`)
  return rows.map(({ name }) => name)
}

/** Reads the departures that may be within the window of one of these workers, and counts the other workers. */
export async function readDepartures(db: Queries, names: readonly string[]) {
  const departures = await db.rows<Departure>(sql`
    select name, extract(epoch from now() - disconnected_at)::float8 as age_s from workers
     where disconnected_at >= (select min(disconnected_at) from workers where name = any(${names}::text[]))
                              - make_interval(secs => ${DEPARTURE_WINDOW_S})`)
  const [row] = await db.rows<{ staying: number }>(sql`
    select count(*)::int as staying from workers
     where connected and evicted_at is null and name <> all(${departures.map(({ name }) => name)}::text[])`)
  return { departures, staying: row?.staying ?? 0 }
}

/** Evicts candidates; those that have shown a sign of life since are left out. */
export const evictDeparted = (tx: Tx, names: readonly string[]) =>
  tx.rows<Evicted>(sql`
    update workers w
       set evicted_at = now(), changed_at = now(), connected = false, replica_id = null,
           closed_generation = null, connection_generation = w.connection_generation + 1,
           release_generation = nullif(w.connection_generation, 0)
      from (select name from workers w where name = any(${names}::text[]) and ${isDeparted}
             order by name for update skip locked) as mine
     where w.name = mine.name
    returning w.name, w.connection_generation, w.release_generation`)

/** Leaves the candidates to eviction by missing heartbeats. */
export const leaveToTimeout = (tx: Tx, names: readonly string[]) =>
  tx.run(sql`
    update workers w set closed_generation = null
      from (select name from workers w where name = any(${names}::text[]) and ${isDeparted}
             order by name for update skip locked) as mine
     where w.name = mine.name`)
