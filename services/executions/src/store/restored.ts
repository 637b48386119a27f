import type { Db, Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { terminalEvents } from './columns.ts'

/** More than the number of leases of any execution between a backup and its restoration. */
const GENERATIONS = 1_000_000

/** True if another connection of this service to the database is open. */
export async function isServiceConnected(db: Queries): Promise<boolean> {
  const row = await db.maybe<{ others: number }>(sql`
    select count(*) as others from pg_stat_activity
     where datname = current_database() and application_name = current_setting('application_name')
       and pid <> pg_backend_pid()`)
  return (row?.others ?? 0) > 0
}

/** Raises the claim generations of all unfinished executions above any that was used in the lost time. */
export const raiseGenerations = (db: Db): Promise<number> =>
  db.tx(async (tx) => {
    await tx.run(sql`
      update wake_conditions set claim_generation = claim_generation + ${GENERATIONS}::bigint`)
    return tx.run(sql`
      update executions
         set claim_generation = claim_generation + ${GENERATIONS}::bigint, revision = revision + 1
       where finished_at is null`)
  })

export const listHeld = (db: Queries) =>
  db.rows<{ execution_id: string; held_by: string }>(sql`
    select execution_id, held_by from executions where held_by is not null order by execution_id`)

/**
 * Makes the order of ends valid in this server. A dump carries the transaction ids of the server on which
 * it was made; they may be ahead of this server's, and readers would wait until it reaches them. Ends that
 * all readers have read are put before the cursors, the others become new. Returns false if no id is ahead.
 */
export const renumberEnds = (db: Db): Promise<boolean> =>
  db.tx(async (tx) => {
    const ahead = await tx.maybe<{ is_ahead: boolean }>(sql`
      select greatest(
               (select xid from events where type in ${terminalEvents} order by xid desc limit 1),
               (select xid from relay_cursor order by xid desc limit 1))
             >= pg_snapshot_xmax(pg_current_snapshot()) as is_ahead`)
    if (!ahead?.is_ahead) return false
    await tx.run(sql`
      update events e
         set xid = case when (e.xid, e.execution_id, e.seq) > (c.xid, c.execution_id, c.seq)
                        then pg_current_xact_id() else '0' end
        from (select xid, execution_id, seq from relay_cursor
               order by xid, execution_id, seq limit 1) as c
       where e.type in ${terminalEvents}`)
    await tx.run(sql`update relay_cursor set xid = '1'`)
    return true
  })
