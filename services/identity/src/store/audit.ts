/*
 * Appending to the audit log. What the hash chain proves is explained in packages/domain/src/audit.ts;
 * this module decides the order of the chain and keeps it without gaps.
 *
 * Problem. Each hash covers the hash before it, so appends have a total order, although all replicas
 * of identity append at once: in the transactions of their own changes, and for other services
 * through `Audit.Record`.
 *
 *      transaction A                 audit_head (one row)            transaction B
 *        |  apply the change           |                                |  apply the change
 *        |-- select for update ------->| seq 41, hash 41                |
 *        |                             |<------- select for update -----|  waits
 *        |   insert entry 42           |                                |
 *        |-- seq 42, hash 42 --------->|                                |
 *        |   commit                    |-------- seq 42, hash 42 ------>|
 *        |                             |                                |  insert entry 43, commit
 *
 * Guarantees. The lock on the head orders all appends, so numbers have no gaps: a number taken from a
 * sequence would be lost with a transaction that rolls back. The entry of an own change commits with
 * the change or not at all. Its time is the database's clock, read by the statement that locks; it
 * decreases only if that clock is set back, and verification depends on the numbers, not on the time.
 *
 * Cost. One append at a time in the whole system. A transaction therefore appends as its last
 * statement, and a batch of entries is one insert and one update of the head. Callers that record for
 * other services send everything that arrived during a call with the next one.
 *
 * Not guaranteed here. Triggers refuse updates, deletes and a head that moves backwards, but a database
 * owner can disable them; the verifier reports what such an owner changed.
 *
 * Rejected. A chain for each replica: no total order between entries, and a replica that is removed
 * leaves a chain that is never extended. Events in the outbox of each service: see ADR 7.
 */
import { type ChainedEntry, type Head, hashEntry } from '@windlass/domain/audit'
import type {
  AuditDraft,
  ListAuditRequest,
  Origin,
} from '@windlass/proto/windlass/identity/v1/audit'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export interface AuditEntryDraft extends Omit<AuditDraft, 'by'> {
  by: Origin
}

/**
 * Appends entries in their order and returns their numbers. Must be the last statement of its
 * transaction: every other writer waits for the commit.
 */
export async function append(tx: Tx, drafts: readonly AuditEntryDraft[]): Promise<number[]> {
  const head = await tx.maybe<Head & { at: Date }>(sql`
    select seq, hash, date_trunc('milliseconds', clock_timestamp()) as at
      from audit_head for update`)
  if (!head) throw new Error('the audit log has no head: restore the row of identity.audit_head')
  const entries: ChainedEntry[] = []
  for (const { by, ...draft } of drafts) {
    const { seq, hash: previous_hash } = entries.at(-1) ?? head
    const at = head.at.toISOString()
    const entry = { ...draft, ...by, seq: seq + 1, at }
    entries.push({ ...entry, previous_hash, hash: hashEntry(previous_hash, entry) })
  }
  await insert(tx, entries)
  return entries.map(({ seq }) => seq)
}

async function insert(tx: Tx, entries: readonly ChainedEntry[]): Promise<void> {
  const all = <Name extends keyof ChainedEntry>(name: Name) => entries.map((entry) => entry[name])
  await tx.run(sql`
    with added as (
      insert into audit_log (seq, at, subject, issuer, key_prefix, request_id, action, object,
                             outcome, detail, previous_hash, hash)
      select seq, at, subject, issuer, key_prefix, request_id, action, object, outcome,
             detail::json, previous_hash, hash
        from unnest(${all('seq')}::bigint[], ${all('at')}::timestamptz[],
                    ${all('subject')}::text[], ${all('issuer')}::text[],
                    ${all('key_prefix')}::text[], ${all('request_id')}::text[],
                    ${all('action')}::text[], ${all('object')}::text[], ${all('outcome')}::text[],
                    ${all('detail_json')}::text[], ${all('previous_hash')}::bytea[],
                    ${all('hash')}::bytea[])
          as entry (seq, at, subject, issuer, key_prefix, request_id, action, object, outcome,
                    detail, previous_hash, hash)
      returning seq, hash)
    update audit_head
       set seq = newest.seq, hash = newest.hash
      from (select seq, hash from added order by seq desc limit 1) newest`)
}

export type AuditRow = Omit<ChainedEntry, 'at'> & { at: Date }

const columns = sql`
  seq, at, subject, issuer, key_prefix, request_id, action, object, outcome,
  detail as detail_json, previous_hash, hash`

/** False for pruned entries whose rows have not been deleted yet. */
const isKept = sql`seq > (select base.seq from audit_base base)`

const matching = ({ actor, action, object, outcome, since, until, after }: ListAuditRequest) => sql`
      ${actor}::text in ('', subject)
  and (${action}::text = '' or action = ${action}::text or starts_with(action, ${`${action}.`}::text))
  and ${object}::text in ('', object)
  and ${outcome}::text in ('', outcome)
  and (${since}::timestamptz is null or at >= ${since}::timestamptz)
  and (${until}::timestamptz is null or at < ${until}::timestamptz)
  and seq > ${after ?? 0}::bigint and ${isKept}`

export function list(db: Queries, request: ListAuditRequest): Promise<AuditRow[]> {
  const order = request.after === undefined ? sql`seq desc` : sql`seq`
  return db.rows<AuditRow>(sql`
    select ${columns} from audit_log where ${matching(request)}
     order by ${order} limit ${request.limit} offset ${request.offset}`)
}

export async function count(db: Queries, request: ListAuditRequest): Promise<number> {
  const row = await db.maybe<{ total: number }>(
    sql`select count(*)::bigint as total from audit_log where ${matching(request)}`,
  )
  return row?.total ?? 0
}

export async function readHead(db: Queries): Promise<Head> {
  const row = await db.maybe<Head>(sql`select seq, hash from audit_head`)
  if (!row) throw new Error('the audit log has no head: restore the row of identity.audit_head')
  return row
}

export const findHash = (db: Queries, seq: number) =>
  db.maybe<{ hash: Buffer }>(sql`select hash from audit_log where seq = ${seq} and ${isKept}`)

/** The last pruned entry; 0: none. */
export async function readBase(db: Queries): Promise<number> {
  const row = await db.maybe<{ seq: number }>(sql`select seq from audit_base`)
  if (!row) throw new Error('the audit log has no base: restore the row of identity.audit_base')
  return row.seq
}

/**
 * Finds the last entry before the first one that is younger than a number of days; undefined unless the oldest entry is a
 * day older than that.
 */
export const findExpired = (db: Queries, days: number) =>
  db.maybe<Head>(sql`
    with oldest as (select seq, at from audit_log where ${isKept} order by seq limit 1),
         young as (
           select seq from audit_log
            where ${isKept} and at >= now() - ${days}::float8 * interval '1 day'
            order by seq limit 1)
    select log.seq, log.hash
      from audit_log log, oldest, audit_head head
     where oldest.at < now() - (${days}::float8 + 1) * interval '1 day'
       and log.seq = coalesce((select seq from young), head.seq + 1) - 1
       and log.seq >= oldest.seq`)

/** Moves the base of the chain to an entry: those up to it are pruned. */
export const moveBase = (tx: Tx, { seq, hash }: Head) =>
  tx.run(sql`update audit_base set seq = ${seq}, hash = ${hash}`)

/** Deletes rows of pruned entries, at most this many; returns their number. */
export const deletePruned = (db: Queries, limit: number) =>
  db.run(sql`
    delete from audit_log where seq in (
      select seq from audit_log where not (${isKept}) order by seq limit ${limit})`)
