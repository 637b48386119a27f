import type { Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/** Stores an uploaded file under its hash, once. */
export const save = (tx: Tx, sha256: string, bytes: Uint8Array) =>
  tx.run(sql`
    insert into sources (sha256, bytes)
    values (${Buffer.from(sha256, 'hex')}, ${Buffer.from(bytes)})
    on conflict (sha256) do nothing`)
