import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { EncryptedValue } from '../domain/cipher.ts'
import type { EntryScope } from '../domain/entry-scope.ts'

export interface SecretRow extends EncryptedValue, EntryScope {
  name: string
  version: number
  previous?: PreviousValue | undefined
}

/** The value before the current one. */
export interface PreviousValue extends EncryptedValue {
  until: Date
}

/**
 * A row with the newest version of its secret; undefined if an earlier release wrote it. A previous value whose time is
 * up is left out.
 */
export type StoredSecret = SecretRow & { newest_version?: number | undefined }

interface FlatRow extends EncryptedValue, EntryScope {
  name: string
  version: number
  newest_version?: number
  previous_key_id?: string
  previous_nonce?: Uint8Array
  previous_ciphertext?: Uint8Array
  previous_until?: Date
}

/** Absent once it is over, by the database's clock: those of the processes may differ. */
const previousUntil = sql`case when s.previous_until > now() then s.previous_until end`

const columns = sql`
  s.name, s.key_id, s.nonce, s.ciphertext, s.namespaces, s.workflows, s.version,
  s.previous_key_id, s.previous_nonce, s.previous_ciphertext, ${previousUntil} as previous_until,
  v.version as newest_version`

const joined = sql`secrets s left join secret_versions v on v.name = s.name`

function toStored({
  previous_key_id: key_id,
  previous_nonce: nonce,
  previous_ciphertext: ciphertext,
  previous_until: until,
  ...row
}: FlatRow): StoredSecret {
  const previous = key_id && nonce && ciphertext && until && { key_id, nonce, ciphertext, until }
  return { ...row, ...(previous && { previous }) }
}

/** Secrets by name, without their values. */
export const listAll = (db: Queries) =>
  db.rows<EntryScope & { name: string; version: number; previous_until?: Date }>(sql`
    select name, namespaces, workflows, version, ${previousUntil} as previous_until
      from secrets s order by name`)

/** Assigns the next version of a secret and locks its name until the end of the transaction. */
export async function nextVersion(tx: Tx, name: string): Promise<number> {
  const row = await tx.maybe<{ version: number }>(sql`
    insert into secret_versions (name, version) values (${name}, 1)
    on conflict (name) do update set version = secret_versions.version + 1 returning version`)
  if (!row) throw new Error('an upsert returned no row')
  return row.version
}

/** Creates or replaces; returns 0 if the name is new and `max` names exist. */
export const put = (db: Queries, row: SecretRow, max: number) =>
  db.run(sql`
    insert into secrets (name, key_id, nonce, ciphertext, namespaces, workflows, version,
                         previous_key_id, previous_nonce, previous_ciphertext, previous_until)
    select ${row.name}::text, ${row.key_id}::text, ${row.nonce}::bytea, ${row.ciphertext}::bytea,
           ${row.namespaces}::text[], ${row.workflows}::text[], ${row.version}::int,
           ${row.previous?.key_id}::text, ${row.previous?.nonce}::bytea,
           ${row.previous?.ciphertext}::bytea, ${row.previous?.until}::timestamptz
     where exists (select from secrets where name = ${row.name}::text)
        or (select count(*) from secrets) < ${max}::int
    on conflict (name) do update
      set key_id = excluded.key_id, nonce = excluded.nonce, ciphertext = excluded.ciphertext,
          namespaces = excluded.namespaces, workflows = excluded.workflows,
          version = excluded.version, previous_key_id = excluded.previous_key_id,
          previous_nonce = excluded.previous_nonce,
          previous_ciphertext = excluded.previous_ciphertext,
          previous_until = excluded.previous_until, updated_at = now()`)

export const getMany = async (db: Queries, names: readonly string[]) =>
  (
    await db.rows<FlatRow>(
      sql`select ${columns} from ${joined} where s.name = any(${names}::text[])`,
    )
  ).map(toStored)

export async function lock(tx: Tx, name: string): Promise<StoredSecret | undefined> {
  const row = await tx.maybe<FlatRow>(
    sql`select ${columns} from ${joined} where s.name = ${name} for update of s`,
  )
  return row && toStored(row)
}

const isUnderOtherKey = (key_id: string) => sql`(s.key_id <> ${key_id}
  or (s.previous_key_id <> ${key_id} and s.previous_until > now()))`

/** Locks values under other keys, in the order of their names and after `after`. */
export const lockUnderOtherKeys = async (tx: Tx, key_id: string, after: string, limit: number) =>
  (
    await tx.rows<FlatRow>(sql`
      select ${columns} from ${joined}
       where ${isUnderOtherKey(key_id)} and s.name > ${after}
       order by s.name limit ${limit} for update of s`)
  ).map(toStored)

export async function countUnderOtherKeys(db: Queries, key_id: string): Promise<number> {
  const row = await db.maybe<{ total: number }>(
    sql`select count(*)::int as total from secrets s where ${isUnderOtherKey(key_id)}`,
  )
  return row?.total ?? 0
}

export const remove = (db: Queries, name: string) =>
  db.run(sql`delete from secrets where name = ${name}`)

/** Destroys the previous values whose time is up. */
export const deleteExpired = (db: Queries) =>
  db.run(sql`
    update secrets
       set previous_key_id = null, previous_nonce = null, previous_ciphertext = null,
           previous_until = null
     where previous_until <= now()`)
