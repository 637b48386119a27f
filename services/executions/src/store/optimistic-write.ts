import type { Db, Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { Execution } from '../domain/execution.ts'
import { forChange } from './columns.ts'
import {
  assignments,
  insertIfAbsent,
  type NewExecution,
  type RowUpdate,
  rowUpdates,
} from './executions.ts'
import type { EventKey, StoredEntry } from './log.ts'
import * as log from './log.ts'
import * as ready from './ready.ts'

export interface RowWithKnownEvents extends Execution {
  /** Those of the asked events that the log has already: type and id, side by side. */
  known_types: string[]
  known_ids: string[]
}

/** Rows without a lock, each with the events that are known, of one moment. */
export const readWithKnownEvents = (
  db: Db,
  ids: readonly string[],
  events: readonly Omit<EventKey, 'type'>[],
) =>
  db.rows<RowWithKnownEvents>(sql`
    select ${forChange}, known.types as known_types, known.ids as known_ids
      from executions e
     cross join lateral (
       select coalesce(array_agg(k.type), '{}') as types,
              coalesce(array_agg(k.event_id), '{}') as ids
         from unnest(${events.map((event) => event.execution_id)}::uuid[],
                     ${events.map((event) => event.event_id)}::text[]) as asked(id, event_id)
         join events k on k.execution_id = e.execution_id and k.event_id = asked.event_id
        where asked.id = e.execution_id) as known
     where e.execution_id = any(${ids}::uuid[])`)

/**
 * New rows and their totals, and in the same commit the leases of some of them. Answers the ids of
 * those that were new, and of those that were leased.
 */
export async function insertWithLeases(
  db: Db,
  rows: readonly NewExecution[],
  leases: readonly ConditionalWrite[],
): Promise<{ made: Set<string>; written: Set<string> }> {
  if (leases.length === 0) return { made: idsOf(await insertRows(db, rows)), written: new Set() }
  return db.tx(async (tx) => {
    const workers = workersOf(leases)
    const locked = ready.lockWorkers(tx, workers)
    const made = insertRows(tx, rows)
    // One that was there already is somebody else's to lease.
    const own = sql`and e.xmin = pg_current_xact_id()::xid`
    const written = statement(tx, withSlotRanks(leases), workers, own)
    await tx.commitBehind(Promise.all([locked, made, written]))
    return { made: idsOf(await made), written: idsOf(await written) }
  })
}

interface Id {
  execution_id: string
}

const insertRows = (db: Queries, rows: readonly NewExecution[]) =>
  db.rows<Id>(sql`
    with made as (
      ${insertIfAbsent(rows)} returning execution_id, workflow_namespace, workflow_name, state),
    counted as (
      insert into totals_delta (workflow_namespace, workflow_name, state, delta)
      select workflow_namespace, workflow_name, state, count(*) from made group by 1, 2, 3)
    select execution_id from made`)

const idsOf = (rows: readonly Id[]) => new Set(rows.map(({ execution_id }) => execution_id))

const workersOf = (writes: readonly ConditionalWrite[]) => [
  ...new Set(writes.flatMap(({ lease }) => lease?.worker_name ?? [])),
]

export interface ConditionalWrite extends RowUpdate {
  before: Execution
  entries: readonly StoredEntry[]
  /** Takes one of the worker's places; there must be one left. */
  lease?: { worker_name: string; capacity: number } | undefined
}

/**
 * Rows, logs and totals in one statement. Answers the ids of those that were written: a row that is
 * not as it was read, or whose worker is full, is left out with all that belongs to it.
 */
export async function writeIfUnchanged(
  db: Db,
  writes: readonly ConditionalWrite[],
): Promise<Set<string>> {
  const workers = workersOf(writes)
  return idsOf(
    workers.length === 0 ? await statement(db, writes) : await writeWithLeases(db, writes, workers),
  )
}

/** What a worker holds is true until the commit, since no other lease for it comes between. */
const writeWithLeases = (db: Db, writes: readonly ConditionalWrite[], workers: readonly string[]) =>
  db.tx(async (tx) => {
    const locked = ready.lockWorkers(tx, workers)
    const written = statement(tx, withSlotRanks(writes), workers)
    await tx.commitBehind(Promise.all([locked, written]))
    return await written
  })

/** Of several leases for one worker each needs one more free place than the one before. */
function withSlotRanks(writes: readonly ConditionalWrite[]): ConditionalWrite[] {
  const ranks = new Map<string, number>()
  return writes.map((write) => {
    if (!write.lease || write.lease.capacity === 0) return write
    const { worker_name, capacity } = write.lease
    const rank = (ranks.get(worker_name) ?? 0) + 1
    ranks.set(worker_name, rank)
    return { ...write, maxHeld: capacity - rank }
  })
}

/**
 * The planner takes arrays for short. So the only join is one that an index serves, and `is true`
 * keeps it from making another of the look into what was changed, which is hashed instead.
 */
function statement(
  db: Queries,
  writes: readonly ConditionalWrite[],
  workers: readonly string[] = [],
  only = sql``,
) {
  const entries = writes.flatMap((write) => write.entries)
  const room = sql`
    and (c.most_held is null or c.most_held >=
      coalesce((select used from held where held.worker_name = c.held_by), 0))`
  const isOrdered =
    writes.length > 1
      ? sql`and (e.execution_id in (select execution_id from locked)) is true`
      : sql``
  return db.rows<Id>(sql`
    with held as (${ready.loadsOf(workers)}),
    ${writes.length > 1 ? sql`locked as (${lockedInOrder(writes)}),` : sql``}
    changed as (
      update executions e set ${assignments} from ${rowUpdates(writes)}
       where e.execution_id = c.execution_id and e.revision = c.old_revision
         ${isOrdered} ${workers.length > 0 ? room : sql``} ${only}
      returning e.execution_id, e.workflow_namespace, e.workflow_name, c.old_state, e.state),
    appended as (
      insert into events (execution_id, seq, event_id, type, source_id, name, value, time)
      select * from ${log.rows('l', entries)}
       where (l.execution_id in (select execution_id from changed)) is true),
    counted as (
      insert into totals_delta (workflow_namespace, workflow_name, state, delta)
      select workflow_namespace, workflow_name, d.state, sum(d.delta)
        from changed cross join lateral (values (old_state, -1), (changed.state, 1)) as d(state, delta)
       where old_state <> changed.state group by 1, 2, 3)
    select execution_id from changed`)
}

/** An update alone takes its rows in any order; two that meet in two orders wait for one another. */
const lockedInOrder = (writes: readonly ConditionalWrite[]) => sql`
  select execution_id from executions
   where execution_id = any(${writes.map(idOf)}::uuid[]) order by execution_id for update`

const idOf = ({ before }: ConditionalWrite) => before.execution_id
