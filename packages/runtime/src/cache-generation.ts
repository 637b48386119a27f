/*
 * Cache generations: how every replica stops using cached data after a change, without messages.
 *
 * Problem. The gateway caches principals, permissions and workflow metadata. After a change of
 * permissions is acknowledged, no replica may decide by the old ones. Broadcast invalidation cannot
 * promise that: a message to a partitioned replica is lost without an error.
 *
 * Protocol. For each cache there is one random token in Redis, its generation. A cache entry is
 * stored together with the generation that was current before it was fetched, and is used only
 * while that generation is current.
 *
 *      reader (gateway)                  Redis               owner (identity, catalog)
 *        |-- get generation ----------->|                          |
 *        |<- g1 ------------------------|                          |
 *        |   valid for GENERATION_LEASE_MS from the request        |
 *        |                              |                          | commit in Postgres,
 *        |                              |                          | with a marker row
 *        |                              |<------- set g2 ----------|
 *        |                              |                          | wait for the lease
 *        |   lease has ended            |                          | answer the client
 *        |-- get generation ----------->|                          |
 *        |<- g2: entries of g1 ignored -|                          |
 *
 * The owner waits one lease after it has replaced the token and before it answers. A reader may rely
 * on a token for one lease, counted from when it sent the request, so at the time of the answer no
 * reader relies on the old token any more.
 *
 * What is decided where. Postgres decides what is true. Redis decides only whether a cached copy may
 * be used. Local time bounds the lease on the monotonic clock of each process; MARGIN_MS covers
 * timers that fire early and clocks that run at different rates.
 *
 * Failures.
 * - Redis is unavailable to a reader: it has no generation, uses no cache and asks the owner.
 * - Redis is unavailable to the owner: the change is committed, the call answers `unavailable`, and
 *   the marker row makes the owner's loop replace the token later. The client may retry.
 * - The owner crashes between commit and `set`: the marker row has the same effect.
 * - Redis loses its data: a reader creates a new random token, which no entry carries. A counter
 *   could return to a value that old entries carry; a random token cannot.
 *
 * Not guaranteed. A hit: while Redis does not answer, every request asks the owner, and a change of
 * one account drops the entries of all. A message that is already on its way to a client: the promise
 * is about requests that arrive after the answer to the change.
 *
 * Where. This file has the token, the wait of the owner and the marker rows. The gateway has the
 * lease of a reader (services/gateway/src/cache/generation-reader.ts) and the entries of one
 * generation (generation-cache.ts of the same folder).
 *
 * Cost. One Redis command per process and lease, shared by all requests in it (the reader batches),
 * and GENERATION_LEASE_MS added to each change: 27 ms with the margin. The lease is longer than the few
 * requests of one execution and short enough for a change of permissions to feel immediate.
 *
 * Measurements (bench hello, two virtual cores, before and after taking turns in one run; ADR 14).
 * Reading the token for each use cost a single execution four round trips in sequence, a twelfth of
 * its time. With the lease an execution takes 0.96 of that time and the gateway 0.85 of the CPU.
 *
 * Tried and dropped, or not chosen.
 * - Reading the token before each use of an entry: correct without a wait of the owner, at the cost above.
 * - Messages that name what changed: a lost one is never noticed, and most changes (a role, a revoked
 *   key) affect entries that cannot be listed. For the same reason there is one token for each cache
 *   and not for each key.
 * - A time to live alone: a revoked key would stay valid for as long.
 * - A counter in place of a random token: see the loss of data above.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, unavailable } from './faults.ts'
import type { Db, Tx } from './postgres/db.ts'
import { type Sql, sql } from './postgres/sql.ts'
import type { Logger } from './process/log.ts'
import type { Redis } from './redis/redis.ts'

export type CacheName = 'auth' | 'catalog'

/**
 * Milliseconds, from the request for it, for which a generation may be relied on. Each change waits as
 * long.
 */
export const GENERATION_LEASE_MS = 25

/** Timers can fire a millisecond early, and the clocks of two hosts run at different rates. */
const MARGIN_MS = 2

const keyOf = (name: CacheName) => `epoch:${name}`
const newGeneration = () => randomBytes(12).toString('hex')

/**
 * Reads the current generation; creates one if Redis has none, so that older entries are ignored. Returns
 * undefined while Redis is unavailable; then no cached entry may be used.
 */
export async function readGeneration(redis: Redis, name: CacheName): Promise<string | undefined> {
  try {
    const known = await redis.get(keyOf(name))
    if (known) return known
    await redis.set(keyOf(name), newGeneration(), 'NX')
    return (await redis.get(keyOf(name))) ?? undefined
  } catch {
    return undefined
  }
}

/**
 * Replaces the generation, so that cached entries of all replicas are ignored, and returns when no replica
 * relies on the old one. The owner calls it after its commit and before its answer. Throws `unavailable` if
 * Redis is unavailable: the change is committed, but the answer must not promise that it is effective.
 */
export async function invalidateCaches(redis: Redis, name: CacheName): Promise<void> {
  try {
    await redis.set(keyOf(name), newGeneration())
  } catch (error) {
    throw unavailable('the change is committed but not yet effective everywhere; retry', error)
  }
  await sleep(GENERATION_LEASE_MS + MARGIN_MS)
}

/**
 * Marker table of an owner, in its own schema. Each row is a committed change after which the generation
 * may not be replaced yet. The statements are fragments, because names of tables and columns differ between
 * owners.
 */
export interface MarkerTable {
  cache: CacheName
  table: Sql
  /** Primary key column; its values never repeat. */
  key: Sql
  /** Statement that inserts one marker. */
  insert: Sql
}

const MAX_MARKERS = 1_000

/** Adds a marker, in the transaction of a change: the generation must be replaced after the commit. */
export const addMarker = (tx: Tx, { insert }: MarkerTable) => tx.run(insert)

export interface CacheInvalidatorDeps {
  db: Db
  redis: Redis
  markers: MarkerTable
  log: Logger
  /** Called after each commit, before the generation is replaced. */
  onCommit?: () => void
}

/** Changes what other services cache, and invalidates their copies before the change is answered. */
export class CacheInvalidator {
  readonly #deps: CacheInvalidatorDeps

  constructor(deps: CacheInvalidatorDeps) {
    this.#deps = deps
  }

  /**
   * Commits a change with a marker and replaces the generation before it returns. The invalidation also
   * runs after a refusal: if the first attempt of a repeated change committed and failed to reach Redis,
   * the repetition finds nothing to change, and its caller must not get an answer before the invalidation
   * is done.
   */
  async commitAndInvalidate<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { db, markers, onCommit } = this.#deps
    try {
      const result = await db.tx(async (tx) => {
        const done = await work(tx)
        await addMarker(tx, markers)
        return done
      })
      onCommit?.()
      return result
    } finally {
      await this.invalidatePending()
    }
  }

  /**
   * Replaces the generation if a committed change requires it: the caller's, or one whose process crashed
   * or lost Redis after its commit. Throws `unavailable` if Redis cannot be reached: the markers stay, and
   * no answer may claim that the caches are invalid.
   */
  async invalidatePending(): Promise<void> {
    const { db, redis, markers, log } = this.#deps
    const { cache, table, key } = markers
    const rows = await db.rows<{ key: string }>(
      sql`select ${key}::text as key from ${table} limit ${MAX_MARKERS}`,
    )
    if (rows.length === 0) return
    await invalidateCaches(redis, cache)
    // Deletes exactly these: a marker that commits in the meantime stays, even if its key is lower.
    const keys = rows.map((row) => row.key)
    try {
      await db.run(sql`delete from ${table} where ${key} = any(${keys})`)
    } catch (error) {
      // The change is already effective, so its answer does not depend on this: the sweeper deletes the
      // markers.
      log.warn({ err: error, cache }, 'failed to delete invalidation markers')
    }
  }

  /** One round of the sweeper, the owner's loop that replaces generations after a crash or an outage. */
  async sweep(): Promise<void> {
    try {
      await this.invalidatePending()
    } catch (error) {
      // No backoff: after Redis returns, caches serve outdated entries until the next round.
      if (!(error instanceof Fault)) throw error
      this.#deps.log.warn(
        { err: error, cache: this.#deps.markers.cache },
        'failed to invalidate caches',
      )
    }
  }
}
