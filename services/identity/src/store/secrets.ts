import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { EncryptedValue } from '../domain/cipher.ts'

export interface SecretRow extends EncryptedValue {
  name: string
}

export const listNames = (db: Queries) =>
  db.rows<{ name: string }>(sql`select name from secrets order by name`)

/** Creates or replaces; returns 0 if the name is new and `max` names exist. */
export const put = (db: Queries, { name, key_id, nonce, ciphertext }: SecretRow, max: number) =>
  db.run(sql`
    insert into secrets (name, key_id, nonce, ciphertext)
    select ${name}::text, ${key_id}::text, ${nonce}::bytea, ${ciphertext}::bytea
     where exists (select from secrets where name = ${name}::text)
        or (select count(*) from secrets) < ${max}::int
    on conflict (name) do update
      set key_id = excluded.key_id, nonce = excluded.nonce, ciphertext = excluded.ciphertext,
          updated_at = now()`)

export const getMany = (db: Queries, names: readonly string[]) =>
  db.rows<SecretRow>(sql`
    select name, key_id, nonce, ciphertext from secrets where name = any(${names}::text[])`)

/** Locks values under other keys, in the order of their names and after `after`. */
export const lockUnderOtherKeys = (tx: Tx, key_id: string, after: string, limit: number) =>
  tx.rows<SecretRow>(sql`
    select name, key_id, nonce, ciphertext from secrets
     where key_id <> ${key_id} and name > ${after} order by name limit ${limit} for update`)

/** Stores the same values under another key. */
export function reencrypt(tx: Tx, rows: readonly SecretRow[]) {
  const all = <Name extends keyof SecretRow>(name: Name) => rows.map((row) => row[name])
  return tx.run(sql`
    update secrets s set key_id = r.key_id, nonce = r.nonce, ciphertext = r.ciphertext
      from unnest(${all('name')}::text[], ${all('key_id')}::text[], ${all('nonce')}::bytea[],
                  ${all('ciphertext')}::bytea[]) as r (name, key_id, nonce, ciphertext)
     where s.name = r.name`)
}

export async function countUnderOtherKeys(db: Queries, key_id: string): Promise<number> {
  const row = await db.maybe<{ total: number }>(
    sql`select count(*)::int as total from secrets where key_id <> ${key_id}`,
  )
  return row?.total ?? 0
}

export const remove = (db: Queries, name: string) =>
  db.run(sql`delete from secrets where name = ${name}`)
