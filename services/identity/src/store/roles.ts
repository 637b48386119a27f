import type { Role } from '@windlass/proto/windlass/identity/v1/principals'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

const columns = sql`name, permissions, built_in`

export const list = (db: Queries) =>
  db.rows<Role>(sql`select ${columns} from roles order by built_in desc, name`)

export const find = (db: Queries, name: string) =>
  db.maybe<Role>(sql`select ${columns} from roles where name = ${name}`)

/** Locks the row until the end of the transaction. */
export const lock = (tx: Tx, name: string) =>
  tx.maybe<Role>(sql`select ${columns} from roles where name = ${name} for update`)

/** Returns 0 if the name is taken. */
export const insert = (db: Queries, name: string, permissions: readonly string[]) =>
  db.run(sql`
    insert into roles (name, permissions) values (${name}, ${permissions}::text[])
    on conflict (name) do nothing`)

export const setPermissions = (tx: Tx, name: string, permissions: readonly string[]) =>
  tx.run(sql`
    update roles set permissions = ${permissions}::text[], updated_at = now() where name = ${name}`)

export const remove = (tx: Tx, name: string) => tx.run(sql`delete from roles where name = ${name}`)

/** Existing names among these; the roles cannot be deleted until the end of the transaction. */
export const lockNames = (tx: Tx, names: readonly string[]) =>
  tx.rows<{ name: string }>(
    sql`select name from roles where name = any(${names}::text[]) for share`,
  )
