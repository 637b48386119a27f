import type { Checkpoint } from '@windlass/domain/audit-checkpoint'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** A signing key, its private part encrypted. */
export interface KeyRow {
  key_id: string
  public_key: string
  encryption_key_id: string
  nonce: Uint8Array
  ciphertext: Uint8Array
  created_at: Date
}

interface CheckpointRow extends Pick<Checkpoint, 'seq' | 'reason'> {
  key_id: string
  token: string
}

const lockName = sql`hashtext(current_schema() || '.audit_checkpoints')`

/** Lets one transaction at a time write checkpoints, of all replicas and commands. */
export const lock = (tx: Tx) => tx.run(sql`select pg_advisory_xact_lock(${lockName})`)

/** The same; false if another transaction has it. */
export async function tryLock(tx: Tx): Promise<boolean> {
  const row = await tx.maybe<{ held: boolean }>(
    sql`select pg_try_advisory_xact_lock(${lockName}) as held`,
  )
  return row?.held ?? false
}

/** Keys, the newest first. */
export const listKeys = (db: Queries) =>
  db.rows<KeyRow>(sql`
    select key_id, public_key, encryption_key_id, nonce, ciphertext, created_at
      from audit_keys order by created_at desc, key_id`)

export const insertKey = (tx: Tx, row: Omit<KeyRow, 'created_at'>) =>
  tx.run(sql`
    insert into audit_keys (key_id, public_key, encryption_key_id, nonce, ciphertext)
    values (${row.key_id}, ${row.public_key}, ${row.encryption_key_id}, ${row.nonce}, ${row.ciphertext})`)

export const updateKey = (tx: Tx, row: Omit<KeyRow, 'created_at' | 'public_key'>) =>
  tx.run(sql`
    update audit_keys
       set encryption_key_id = ${row.encryption_key_id}, nonce = ${row.nonce}, ciphertext = ${row.ciphertext}
     where key_id = ${row.key_id}`)

export const insert = (tx: Tx, { seq, reason, key_id, token }: CheckpointRow) =>
  tx.run(sql`
    insert into audit_checkpoints (seq, reason, key_id, token)
    values (${seq}, ${reason}, ${key_id}, ${token})`)

/** Checkpoints, the newest first. */
export const list = (db: Queries, { limit, offset }: { limit: number; offset: number }) =>
  db.rows<CheckpointRow>(sql`
    select seq, reason, key_id, token from audit_checkpoints
     order by seq desc, reason desc limit ${limit} offset ${offset}`)

export async function count(db: Queries): Promise<number> {
  const row = await db.maybe<{ total: number }>(
    sql`select count(*)::bigint as total from audit_checkpoints`,
  )
  return row?.total ?? 0
}

/** The checkpoint of the newest entry, and its age. */
export const readNewest = (db: Queries) =>
  db.maybe<{ seq: number; age_s: number }>(sql`
    select seq, extract(epoch from clock_timestamp() - created_at)::float8 as age_s
      from audit_checkpoints order by seq desc, created_at desc limit 1`)

/** Age of the oldest entry after the newest checkpoint; absent: there is none. */
export const readUncovered = (db: Queries) =>
  db.maybe<{ age_s: number }>(sql`
    select extract(epoch from clock_timestamp() - at)::float8 as age_s from audit_log
     where seq > coalesce((select max(seq) from audit_checkpoints), 0)
     order by seq limit 1`)

/** Deletes checkpoints of pruned entries: that of the prune covers them. */
export const deleteCovered = (tx: Tx) =>
  tx.run(sql`
    delete from audit_checkpoints
     where reason = 'interval' and seq < (select seq from audit_base)`)
