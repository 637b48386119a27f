import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
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
