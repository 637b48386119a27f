import type { Db, Queries } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import type { Execution } from '../domain/execution.ts'
import { forChange } from './columns.ts'
import * as executions from './executions.ts'
import { insertLeasedIfAbsent } from './insert-leased.ts'
import * as log from './log.ts'
import * as ready from './ready.ts'

export interface RowWithEvents extends Execution {
  /** Types and ids of the requested events that the log already contains, index by index. */
  known_types: string[]
  known_ids: string[]
}

/** Reads rows without a lock, each with its known events, in one snapshot. */
export const readWithEvents = (db: Db, ids: readonly string[], events: readonly log.EventRef[]) =>
  db.rows<RowWithEvents>(sql`
    with known as materialized (${log.knownOf(events)})
    select ${forChange}, of_row.types as known_types, of_row.ids as known_ids
      from executions e
     cross join lateral (
       select coalesce(array_agg(known.type), '{}') as types,
              coalesce(array_agg(known.event_id), '{}') as ids
         from known where known.execution_id = e.execution_id) as of_row
     where e.execution_id = any(${ids}::uuid[])`)

/**
 * Inserts rows with their totals, some of them leased. A leased row is never queued, so it does not enter
 * the indexes of the queue and needs no second version. Returns the ids that were new, and those that were
 * leased; a row whose worker is full is queued.
 */
export async function insertWithLeases(
  db: Db,
  rows: readonly executions.NewExecution[],
  leases: Writes,
): Promise<{ created: Set<string>; written: Set<string> }> {
  if (leases.length === 0) return { created: idsOf(await insertRows(db, rows)), written: new Set() }
  const inserted = await insertLeasedRows(db, rows, withSlotRanks(leases))
  return { created: idsOf(inserted), written: idsOf(inserted.filter(({ is_leased }) => is_leased)) }
}

interface Id {
  execution_id: string
}

/** The remaining parts of a statement that has inserted the rows `inserted`. */
const countAndTag = (rows: readonly executions.NewExecution[]) => sql`
    counted as (
      insert into totals_delta (workflow_namespace, workflow_name, state, delta)
      select workflow_namespace, workflow_name, state, count(*) from inserted group by 1, 2, 3)
    ${executions.insertTags(rows)}`

const INSERTED = sql`
  returning execution_id, workflow_namespace, workflow_name, state, created_at, tags, held_by`

const insertRows = (db: Queries, rows: readonly executions.NewExecution[]) =>
  db.rows<Id>(sql`
    with inserted as (${executions.insertIfAbsent(rows)} ${INSERTED}),
    ${countAndTag(rows)}
    select execution_id from inserted`)

function insertLeasedRows(db: Queries, rows: readonly executions.NewExecution[], leases: Writes) {
  const leaseOf = new Map(leases.map((lease) => [idOf(lease), lease]))
  const entries = leases.flatMap((lease) => lease.entries)
  const leased = rows.map((row) => ({ row, lease: leaseOf.get(row.execution_id) }))
  return db.rows<Id & { is_leased: boolean }>(sql`
    with held as materialized (${ready.loadsUnderLock(workersOf(leases))}),
    inserted as (${insertLeasedIfAbsent(leased)} ${INSERTED}),
    appended as (
      insert into events (${log.insertedColumns})
      select * from ${log.rows('l', entries)}
       where (l.execution_id in (
         select execution_id from inserted where held_by is not null)) is true),
    ${countAndTag(rows)}
    select execution_id, held_by is not null as is_leased from inserted`)
}

const idsOf = (rows: readonly Id[]) => new Set(rows.map(({ execution_id }) => execution_id))

const workersOf = (writes: Writes) => [
  ...new Set(writes.flatMap(({ lease }) => lease?.worker_name ?? [])),
]

type Writes = readonly ConditionalWrite[]

export interface ConditionalWrite extends executions.RowUpdate {
  before: Execution
  entries: readonly log.StoredEntry[]
  /** Takes a slot of the worker; skipped if none is free. */
  lease?: { worker_name: string; capacity: number } | undefined
}

/**
 * Writes rows, logs and totals in one statement and returns the ids of the rows that were written. A row
 * whose revision has changed, or whose worker is full, is skipped with its log entries and totals.
 */
export async function writeIfUnchanged(db: Db, writes: Writes): Promise<Set<string>> {
  const workers = workersOf(writes)
  const ranked = workers.length === 0 ? writes : withSlotRanks(writes)
  return idsOf(await writeStatement(db, ranked, workers))
}

/** Each lease of a worker in one batch needs one more free slot than the lease before it. */
function withSlotRanks(writes: Writes): ConditionalWrite[] {
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
 * The planner estimates few rows for array parameters, and a nested loop over two of them is quadratic in
 * the batch. So the only join uses an index, and `is true` keeps the planner from turning a subquery into a
 * join, so that it is hashed instead.
 */
function writeStatement(db: Queries, writes: Writes, workers: readonly string[] = []) {
  const entries = writes.flatMap((write) => write.entries)
  const hasLeases = workers.length > 0
  const hasFreeSlot = sql`
    and (c.most_held is null or c.most_held >=
      coalesce((select used from held where held.worker_name = c.held_by), 0))`
  const workersFirst = hasLeases ? sql`and ${ready.isLocked}` : sql``
  const isOrdered =
    writes.length > 1
      ? sql`and (e.execution_id in (select execution_id from locked)) is true`
      : workersFirst
  return db.rows<Id>(sql`
    with ${hasLeases ? sql`held as materialized (${ready.loadsUnderLock(workers)}),` : sql``}
    ${writes.length > 1 ? sql`locked as (${lockedInOrder(writes, workersFirst)}),` : sql``}
    changed as (
      update executions e set ${executions.assignments} from ${executions.rowUpdates(writes)}
       where e.execution_id = c.execution_id and e.revision = c.old_revision
         ${isOrdered} ${hasLeases ? hasFreeSlot : sql``}
      returning e.execution_id, e.workflow_namespace, e.workflow_name, c.old_state, e.state),
    appended as (
      insert into events (${log.insertedColumns})
      select * from ${log.rows('l', entries)}
       where (l.execution_id in (select execution_id from changed)) is true),
    counted as (
      insert into totals_delta (workflow_namespace, workflow_name, state, delta)
      select workflow_namespace, workflow_name, d.state, sum(d.delta)
        from changed cross join lateral (values (old_state, -1), (changed.state, 1)) as d(state, delta)
       where old_state <> changed.state group by 1, 2, 3)
    select execution_id from changed`)
}

/**
 * Locks in the order of ids first: an update locks rows in the order of its plan, so two updates could
 * deadlock.
 */
const lockedInOrder = (writes: Writes, workersFirst: Sql) => sql`
  select execution_id from executions
   where execution_id = any(${writes.map(idOf)}::uuid[]) ${workersFirst}
   order by execution_id for update`

const idOf = ({ before }: ConditionalWrite) => before.execution_id
