import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { isListed } from './records.ts'
import type { StoredWorkerState } from './streams.ts'
import { hasLiveStream } from './workers.ts'

export interface FleetMember extends StoredWorkerState {
  connected: boolean
}

interface Page {
  /** Returns names after this one; empty: from the first. */
  after: string
  limit: number
  withPackages: boolean
}

/** Lists connected and recently disconnected workers by name, with what matching needs. */
export const page = (db: Queries, { after, limit, withPackages }: Page) =>
  db.rows<FleetMember>(sql`
    select name, session_id, connection_generation, healthy, changed_at::text as changed_at,
           ${hasLiveStream} as connected, case when ${withPackages}::bool then packages else '[]' end as packages,
           resources, labels, runners, namespaces, max_concurrent_executions
      from workers w join records using (name)
     where (${isListed}) and name > ${after} order by name limit ${limit}`)
