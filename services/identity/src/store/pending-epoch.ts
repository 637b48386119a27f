import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

const MAX_NOTES = 1_000

/** Notes, in the commit that voids something, that the epoch is to be replaced. */
export const add = (tx: Tx) => tx.run(sql`insert into pending_epoch (name) values ('auth')`)

/** The notes that are committed and not settled. */
export async function list(db: Queries): Promise<number[]> {
  const notes = await db.rows<{ position: number }>(
    sql`select position from pending_epoch limit ${MAX_NOTES}`,
  )
  return notes.map(({ position }) => position)
}

/** Settles exactly these notes; one that committed meanwhile stays, whatever its position. */
export const settle = (db: Queries, positions: number[]) =>
  db.run(sql`delete from pending_epoch where position = any(${positions}::bigint[])`)
