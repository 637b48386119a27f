import { conflict } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'

/**
 * Reserves `execution_id` under an idempotency key for 24 h, or returns the id that the key already has.
 * Refuses a key whose execution was deleted: a second execution would do the same work again.
 */
export async function reserve(db: Db, key_id: string, execution_id: string): Promise<string> {
  const row = await db.maybe<{ execution_id: string; is_deleted: boolean }>(sql`
    insert into idempotency_keys as k (key_id, execution_id, expires_at)
    values (${key_id}, ${execution_id}, clock_timestamp() + interval '24 hours')
    on conflict (key_id) do update
       set (execution_id, expires_at) = (
         select excluded.execution_id, excluded.expires_at where k.expires_at < clock_timestamp()
         union all
         select k.execution_id, k.expires_at where k.expires_at >= clock_timestamp())
    returning execution_id, exists (
      select from deleted_executions d where d.execution_id = k.execution_id
         and d.refused_until >= clock_timestamp()) as is_deleted`)
  if (row?.is_deleted)
    throw conflict(
      'The execution of this Idempotency-Key was deleted by [svc.retention]: use another key to run it again.',
    )
  return row?.execution_id ?? execution_id
}

/** Deletes expired keys. Resolves to true if there may be more. */
export async function deleteExpired(db: Db, limit: number): Promise<boolean> {
  const deleted = await db.run(sql`
    delete from idempotency_keys
     where key_id in (select key_id from idempotency_keys where expires_at < statement_timestamp()
                       order by expires_at limit ${limit} for update skip locked)`)
  return deleted === limit
}
