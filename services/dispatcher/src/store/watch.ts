import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import type { Connection } from './workers.ts'

export interface Change extends Connection {
  /** Differs whenever anything but pongs and metrics did. */
  changed_at: string
}

export interface PollResult {
  /** Workers of which something changed lately, as they are now. */
  changed: Change[]
  /** Some worker has been silent for too long. */
  hasSilentWorkers: boolean
  /** The work of some worker is still to be released. */
  hasPendingReleases: boolean
}

export interface PollWindow {
  /** How far back a change is of interest. */
  within_seconds: number
  silence_seconds: number
}

export interface Evicted extends Connection {
  /** The connection that was lost; undefined if there never was one. */
  release_generation?: number
}

export const MAX_PENDING_RELEASES = 100

/** All that a dispatcher must look for by itself: rows of a matter, a name, a generation and a time. */
export const changesQuery = ({ within_seconds, silence_seconds }: PollWindow): Sql => sql`
    select 'changed' as kind, name, connection_generation, changed_at::text from workers
     where changed_at > now() - make_interval(secs => ${within_seconds})
    union all
    (select 'silent', name, 0, '' from workers
      where evicted_at is null and last_seen_at < now() - make_interval(secs => ${silence_seconds}) limit 1)
    union all
    (select 'pending_release', name, 0, '' from workers where release_generation is not null limit 1)`

/** A batch of connections whose work is still to be released, by name, after the given one. */
export const pendingReleases = (db: Queries, after_name: string) =>
  db.rows<Connection>(sql`
    select name, release_generation as connection_generation from workers
     where release_generation is not null and name > ${after_name} order by name limit ${MAX_PENDING_RELEASES}`)

/** Takes their place from workers that are silent for too long, a batch at most. Rows that someone else has in hand are left to them. */
export const evict = (tx: Tx, silence_seconds: number, limit: number) =>
  tx.rows<Evicted>(sql`
    update workers w
       set evicted_at = now(), changed_at = now(), connected = false, replica_id = null,
           connection_generation = w.connection_generation + 1,
           release_generation = nullif(w.connection_generation, 0)
      from (select name from workers
             where evicted_at is null and last_seen_at < now() - make_interval(secs => ${silence_seconds})
             order by last_seen_at limit ${limit} for update skip locked) as silent
     where w.name = silent.name
    returning w.name, w.connection_generation, w.release_generation`)

/** The work of this connection is back in the queue. */
export const markReleased = (db: Queries, { name, connection_generation }: Connection) =>
  db.run(sql`
    update workers set release_generation = null
     where name = ${name} and release_generation = ${connection_generation}`)
