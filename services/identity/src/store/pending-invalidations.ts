import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

const MAX_MARKERS = 1_000

/** Adds a marker, in the transaction of a change of rights: the cache generation must be replaced. */
export const add = (tx: Tx) => tx.run(sql`insert into pending_epoch (name) values ('auth')`)

/** Positions of committed markers. */
export async function list(db: Queries): Promise<number[]> {
  const markers = await db.rows<{ position: number }>(
    sql`select position from pending_epoch limit ${MAX_MARKERS}`,
  )
  return markers.map(({ position }) => position)
}

/** Removes exactly these markers: one that commits concurrently stays, even with a lower position. */
export const remove = (db: Queries, positions: number[]) =>
  db.run(sql`delete from pending_epoch where position = any(${positions}::bigint[])`)
