import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { isDeparted } from './departure-rows.ts'
import type { Connection, Evicted } from './workers.ts'

export interface Change extends Connection {
  /** Changes whenever anything but pongs and metrics does. */
  changed_at: string
}

export interface PollResult {
  /** Workers that changed within the window, as they are now. */
  changed: Change[]
  /** True if a worker is due for eviction. */
  hasSilentWorkers: boolean
  /** True if a worker is a candidate for early eviction. */
  hasDepartedWorkers: boolean
  /** True if the work of a lost worker has not been released yet. */
  hasPendingReleases: boolean
}

export interface PollWindow {
  /** Age up to which a change is returned. */
  within_seconds: number
  silence_seconds: number
}

export const MAX_PENDING_RELEASES = 100

/** Builds the polling fallback of all worker signals: rows of kind, name, generation and time. */
export const changesQuery = ({ within_seconds, silence_seconds }: PollWindow): Sql => sql`
    select 'changed' as kind, name, connection_generation, changed_at::text from workers
     where changed_at > now() - make_interval(secs => ${within_seconds})
    union all
    (select 'silent', name, 0, '' from workers
      where evicted_at is null and last_seen_at < now() - make_interval(secs => ${silence_seconds}) limit 1)
    union all
    (select 'departed', name, 0, '' from workers w where closed_generation is not null and ${isDeparted} limit 1)
    union all
    (select 'pending_release', name, 0, '' from workers where release_generation is not null limit 1)`

/** Lists a page of lost connections whose work is still to be released, by name. */
export const pendingReleases = (db: Queries, after_name: string) =>
  db.rows<Connection>(sql`
    select name, release_generation as connection_generation from workers
     where release_generation is not null and name > ${after_name} order by name limit ${MAX_PENDING_RELEASES}`)

/** Evicts at most `limit` silent workers, the longest silent first; locked rows are left to the next batch. */
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

/** Records that the work of a lost connection has been released. */
export const markReleased = (db: Queries, { name, connection_generation }: Connection) =>
  db.run(sql`
    update workers set release_generation = null
     where name = ${name} and release_generation = ${connection_generation}`)
