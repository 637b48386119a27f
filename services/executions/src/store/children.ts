import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { CreationPosition } from '../domain/sweep-plan.ts'
import { terminalStates } from './columns.ts'

/**
 * Reads a page, in the order of ids, of the nested runs of these parents that end with a parent whose
 * cancel was requested.
 */
export const listToCancel = (
  db: Queries,
  parent_ids: readonly string[],
  limit: number,
  after = '00000000-0000-0000-0000-000000000000',
) =>
  db.rows<{ execution_id: string }>(sql`
    select c.execution_id from executions p join executions c on c.parent_id = p.execution_id
     where p.execution_id = any(${parent_ids}::uuid[]) and p.state in ('CANCELLING', 'CANCELLED')
       and c.cancel_with_parent and c.state not in ${terminalStates} and c.state <> 'CANCELLING'
       and c.execution_id > ${after}::uuid
     order by c.execution_id limit ${limit}`)

export interface UnfinishedRow extends CreationPosition {
  /** The parent with which it is cancelled. */
  cancelled_with?: string
}

/** Reads a page of unfinished executions, in the order of their creation. */
export const listUnfinished = (db: Queries, limit: number, after?: CreationPosition) =>
  db.rows<UnfinishedRow>(sql`
    select execution_id, created_at::text, case when cancel_with_parent then parent_id end as cancelled_with
      from executions
     where finished_at is null
       ${after ? sql`and (created_at, execution_id) > (${after.created_at}::timestamptz, ${after.execution_id}::uuid)` : sql``}
     order by created_at, execution_id limit ${limit}`)
