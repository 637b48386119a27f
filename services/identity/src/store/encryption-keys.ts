import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** Reads the first use of a key, in seconds since 1970; undefined if none is recorded. */
export async function readFirstUse(db: Queries, key_id: string): Promise<number | undefined> {
  const row = await db.maybe<{ at: number }>(sql`
    select extract(epoch from first_used_at)::float8 as at
      from encryption_keys where key_id = ${key_id}`)
  return row?.at
}

/** Records that a key is used, unless that is known. */
export const recordUse = (db: Queries, key_id: string) =>
  db.run(sql`
    insert into encryption_keys (key_id) values (${key_id}) on conflict (key_id) do nothing`)
