import type { Key } from '@windlass/proto/windlass/identity/v1/principals'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

export interface NewKey {
  prefix: string
  token_hash: Buffer
  principal_id: string
  name: string
  /** 0: the key does not expire. */
  days: number
}

/** Returns 0 if the principal has a key of this name. */
export const insert = (tx: Tx, { prefix, token_hash, principal_id, name, days }: NewKey) =>
  tx.run(sql`
    insert into api_keys (prefix, token_hash, principal_id, name, expires_at)
    values (${prefix}, ${token_hash}, ${principal_id}, ${name},
            now() + nullif(${days}::int, 0) * interval '1 day')
    on conflict (principal_id, name) do nothing`)

export const list = (db: Queries, principal_id: string) =>
  db.rows<Key>(sql`
    select name, prefix, expires_at, created_at, last_used_at from api_keys
     where principal_id = ${principal_id} order by created_at, name`)

export const remove = (tx: Tx, principal_id: string, name: string) =>
  tx.run(sql`delete from api_keys where principal_id = ${principal_id} and name = ${name}`)

export interface StoredKey {
  token_hash: Buffer
  principal_id: string
  expires_at: Date | undefined
}

export const find = (db: Queries, prefix: string) =>
  db.maybe<StoredKey>(
    sql`select token_hash, principal_id, expires_at from api_keys where prefix = ${prefix}`,
  )

/**
 * Updates `last_used_at` unless the key has expired: a refused attempt is not a use. Writes at most
 * once in 5 s, because without Redis every request looks up its key.
 */
export const touch = (db: Queries, prefix: string) =>
  db.run(sql`
    update api_keys set last_used_at = now()
     where prefix = ${prefix} and (expires_at is null or expires_at > now())
       and (last_used_at is null or last_used_at < now() - interval '5 seconds')`)
