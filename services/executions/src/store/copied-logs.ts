import { conflict } from '@windlass/runtime/faults'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { OutlineEntry } from '../domain/fork.ts'
import type { NewExecution } from './executions.ts'
import { insertedColumns, ofLog } from './log.ts'

/**
 * Copies the planned entries of the origin's log to a row that this transaction has inserted, numbered from
 * 1. Throws `conflict` if an entry is missing, because the origin was deleted in the meantime.
 */
export async function copyLog(
  tx: Tx,
  { execution_id, origin_id = '', fork, log_part = 0 }: NewExecution,
): Promise<void> {
  const { seqs = [], completions = 0, after_seq = 0 } = fork ?? {}
  const [, copied] = await Promise.all([
    tx.run(sql`
      update executions set last_seq = ${seqs.length}, completions = ${completions},
             origin_seq = ${after_seq}
       where execution_id = ${execution_id}`),
    seqs.length > 0
      ? tx.run(sql`
          insert into events (${insertedColumns})
          select ${execution_id}::uuid, kept.position, e.event_id, e.type, e.source_id, e.name, e.value, e.time, ${log_part}::int
            from unnest(${seqs}::bigint[]) with ordinality as kept(seq, position)
            join (select * from events where ${ofLog(origin_id)}) as e using (seq)`)
      : 0,
  ])
  if (copied < seqs.length) throw logDeleted()
}

export const logDeleted = () =>
  conflict('The log of the origin was deleted; rerun the execution instead.')

/** Reads the entries of a log without their values, in order; at most `limit`. */
export const readOutlineOf = (db: Queries, execution_id: string, limit: number) =>
  db.rows<OutlineEntry>(sql`
    select seq, type, source_id, name from events
     where ${ofLog(execution_id)} order by seq limit ${limit}`)
