import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** Adds a marker, in the transaction of a change: the cache generation must be replaced. */
export const add = (tx: Tx, token: string) =>
  tx.run(sql`insert into pending_epochs (token) values (${token})`)

export async function list(db: Queries): Promise<string[]> {
  const rows = await db.rows<{ token: string }>(
    sql`select token from pending_epochs order by since limit 1000`,
  )
  return rows.map(({ token }) => token)
}

export const remove = (db: Queries, tokens: string[]) =>
  db.run(sql`delete from pending_epochs where token = any(${tokens}::uuid[])`)
