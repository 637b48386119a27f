import type { Queries } from '@windlass/runtime/db'
import { sql } from '@windlass/runtime/sql'
import type { Sealed } from '../domain/cipher.ts'

export interface SecretRow extends Sealed {
  name: string
}

export const listNames = (db: Queries) =>
  db.rows<{ name: string }>(sql`select name from secrets order by name`)

/** Creates or replaces; answers 0 when it is new and there are `max` already. */
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

export const remove = (db: Queries, name: string) =>
  db.run(sql`delete from secrets where name = ${name}`)
