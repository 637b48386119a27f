import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** Undefined: not restricted. */
export interface KeyRestrictions {
  permissions: string[] | undefined
  networks: string[] | undefined
}

export interface NewKey extends KeyRestrictions {
  prefix: string
  token_hash: Buffer
  principal_id: string
  name: string
  /** 0: the key does not expire. */
  days: number
}

/** Returns 0 if the principal has a key of this name. */
export const insert = (tx: Tx, key: NewKey) =>
  tx.run(sql`
    insert into api_keys (prefix, token_hash, principal_id, name, expires_at, permissions, networks)
    values (${key.prefix}, ${key.token_hash}, ${key.principal_id}, ${key.name},
            now() + nullif(${key.days}::int, 0) * interval '1 day',
            ${key.permissions}::text[], ${key.networks}::text[])
    on conflict (principal_id, name) do nothing`)

export interface ListedKey extends KeyRestrictions {
  name: string
  prefix: string
  expires_at: Date | undefined
  created_at: Date
  last_used_at: Date | undefined
}

export const list = (db: Queries, principal_id: string) =>
  db.rows<ListedKey>(sql`
    select name, prefix, expires_at, created_at, last_used_at, permissions, networks from api_keys
     where principal_id = ${principal_id} order by created_at, name`)

export const remove = (tx: Tx, principal_id: string, name: string) =>
  tx.run(sql`delete from api_keys where principal_id = ${principal_id} and name = ${name}`)

export interface StoredKey extends KeyRestrictions {
  token_hash: Buffer
  principal_id: string
  expires_at: Date | undefined
  created_at: Date
}

export const find = (db: Queries, prefix: string) =>
  db.maybe<StoredKey>(
    sql`select token_hash, principal_id, expires_at, created_at, permissions, networks
          from api_keys where prefix = ${prefix}`,
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
