import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { isListed } from './records.ts'
import type { StoredWorkerState } from './streams.ts'
import { hasLiveStream } from './workers.ts'

export interface FleetMember extends StoredWorkerState {
  connected: boolean
}

interface Page {
  /** Names that come later; empty: from the first. */
  after: string
  limit: number
  withPackages: boolean
}

/** Workers that are there or were lately, by name, with what decides which work they may get. */
export const page = (db: Queries, { after, limit, withPackages }: Page) =>
  db.rows<FleetMember>(sql`
    select name, session_id, connection_generation, healthy, changed_at::text as changed_at,
           ${hasLiveStream} as connected, case when ${withPackages}::bool then packages else '[]' end as packages,
           resources, labels, runners, max_concurrent_executions
      from workers w join records using (name)
     where (${isListed}) and name > ${after} order by name limit ${limit}`)
