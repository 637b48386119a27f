import type { Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { terminalEvents } from './columns.ts'

export interface FinishedExecution {
  xid: string
  execution_id: string
  seq: number
  state: string
  workflow_namespace: string
  workflow_name: string
  schedule_id?: string
  /** Trace context of a traced execution. */
  traceparent?: string
}

/**
 * Readers of terminal events: the relay publishes them, `wake` wakes parked executions, `children`
 * cancels nested runs of cancelled ones.
 */
export type CursorName = 'executions' | 'wake' | 'children'

const LOCKS: Record<CursorName, string> = {
  executions: '.relay',
  wake: '.wake',
  children: '.children',
}

/** True if this transaction got the reader's lock: one replica reads at a time, which keeps the order. */
export async function lockCursor(tx: Tx, name: CursorName): Promise<boolean> {
  const row = await tx.maybe<{ held: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtext(current_schema() || ${LOCKS[name]})) as held`,
  )
  return row?.held ?? false
}

/**
 * Lets this transaction commit before its record is on disk. A crash of the server may then undo the last
 * moves of the cursor, and the events after it are read again.
 */
export const commitWithoutFlush = (tx: Tx) => tx.run(sql`set local synchronous_commit = off`)

/** Position in the order of the terminal events. */
export type Position = Pick<FinishedExecution, 'xid' | 'execution_id' | 'seq'>

const storedPosition = (name: CursorName) => sql`
  select xid, execution_id, seq from relay_cursor where name = ${name}
  union all select '0', '00000000-0000-0000-0000-000000000000', 0 limit 1`

const asRow = ({ xid, execution_id, seq }: Position) => sql`
  select ${xid}::xid8 as xid, ${execution_id}::uuid as execution_id, ${seq}::bigint as seq`

/**
 * Reads terminal events after a position, by default the cursor, in the order of `xid`. An open transaction
 * may still commit with a lower xid, so entries at or above the oldest open one wait. The position is the value of a
 * subquery: joined, it would be compared with every terminal event from the first one on.
 */
export const listAfterCursor = (tx: Tx, name: CursorName, limit: number, after?: Position) =>
  tx.rows<FinishedExecution>(sql`
    select e.xid::text as xid, e.execution_id, e.seq, x.state, x.workflow_namespace,
           x.workflow_name, x.schedule_id, x.traceparent
      from events e join executions x using (execution_id)
     where (e.xid, e.execution_id, e.seq) > (${after ? asRow(after) : storedPosition(name)})
       and e.xid < pg_snapshot_xmin(pg_current_snapshot())
       and e.type in ${terminalEvents}
     order by e.xid, e.execution_id, e.seq limit ${limit}`)

export const moveCursor = (tx: Tx, name: CursorName, { xid, execution_id, seq }: Position) =>
  tx.run(sql`
    insert into relay_cursor (name, xid, execution_id, seq)
    values (${name}, ${xid}::xid8, ${execution_id}, ${seq})
    on conflict (name) do update
       set xid = excluded.xid, execution_id = excluded.execution_id, seq = excluded.seq`)
