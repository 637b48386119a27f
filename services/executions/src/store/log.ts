import type { LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { Sql, sql } from '@windlass/runtime/postgres/sql'
import { type Column, rowsOf } from './row-values.ts'

export interface StoredEntry extends LogEntry {
  execution_id: string
  /** Partition that it is written to; absent in entries that were read. */
  part?: number
}

const columns = sql`execution_id, seq, event_id, type, source_id, name, value as value_json, time`

/**
 * Condition of the entries of one log: they are in the partition of their execution, or in the one of all
 * others. What a deleted execution has left in a partition belongs to no log.
 */
export const ofLog = (id: string): Sql => sql`
  execution_id = ${id} and part in (0, (select log_part from executions where execution_id = ${id}))`

export interface EventKey {
  execution_id: string
  event_id: string
  type: string
}
export type EventRef = Pick<EventKey, 'execution_id' | 'event_id'>

/**
 * Selects the entries with these ids that the logs contain. The first 32 entries of each log are found by
 * its primary key, so that short logs need no other index, and the rest by the partial index
 * `events_of_long_logs`. The row of each execution says which partition to look in, besides partition 0. The planner compares the literal with the predicate of the index; `is true` keeps
 * it from joining the ids instead of hashing them.
 */
export function knownOf(keys: readonly EventRef[]): Sql {
  const ids = [...new Set(keys.map((key) => key.execution_id))]
  const wanted = sql`
    unnest(${keys.map((key) => key.execution_id)}::uuid[],
           ${keys.map((key) => key.event_id)}::text[]) as k(execution_id, event_id)`
  return sql`
    select e.execution_id, e.event_id, e.type
      from unnest(${ids}::uuid[]) as log(id) join executions x on x.execution_id = log.id
     cross join lateral (
        select execution_id, event_id, type from events
         where execution_id = x.execution_id and part in (0, x.log_part) and seq <= 32) as e
     where ((e.execution_id, e.event_id) in (select k.execution_id, k.event_id from ${wanted})) is true
     union all
    select k.execution_id, e.event_id, e.type
      from ${wanted} join executions x on x.execution_id = k.execution_id
     cross join lateral (
        select event_id, type from events
         where execution_id = x.execution_id and part in (0, x.log_part)
           and event_id = k.event_id and seq > 32) as e`
}

/** Reads the events with these ids that the logs already contain. */
export const findKnown = (tx: Tx, keys: readonly EventRef[]) => tx.rows<EventKey>(knownOf(keys))

const COLUMNS: Column<StoredEntry>[] = [
  ['execution_id', 'uuid', (entry) => entry.execution_id],
  ['seq', 'bigint', (entry) => entry.seq],
  ['event_id', 'text', (entry) => entry.event_id],
  ['type', 'text', (entry) => entry.type],
  ['source_id', 'text', (entry) => entry.source_id],
  ['name', 'text', (entry) => entry.name],
  ['value', 'json', (entry) => entry.value_json],
  ['time', 'text', (entry) => entry.time],
  ['part', 'int', (entry) => entry.part ?? 0],
]

/** Columns of an insert, in the order of `rows`. */
export const insertedColumns = new Sql([COLUMNS.map(([name]) => name).join(', ')], [])

/** Entries as rows of a statement, in the column order of the inserts. */
export const rows = (alias: string, entries: readonly StoredEntry[]): Sql =>
  rowsOf(alias, COLUMNS, entries)

export const append = (tx: Tx, entries: readonly StoredEntry[]): Promise<number> =>
  tx.run(sql`
    insert into events (${insertedColumns})
    select * from ${rows('l', entries)}`)

/** Reads the complete logs of some executions, each in order. */
export const readAll = (db: Queries, ids: readonly string[]) =>
  db.rows<StoredEntry>(sql`
    select e.* from executions x cross join lateral (
      select ${columns} from events
       where execution_id = x.execution_id and part in (0, x.log_part)) as e
     where x.execution_id = any(${ids}::uuid[]) order by e.execution_id, e.seq`)

/** Positions of a log: those after `after`, up to `upTo`. */
export interface Range {
  after: number
  upTo: number
}

/**
 * Condition of the entries of a log in a range, which the primary key finds. A planner that sees the values prefers
 * `events_of_long_logs`, which lacks the position, when it expects a short log; hence the subselects.
 */
export const inRange = (id: string, { after, upTo }: Range): Sql =>
  sql`${ofLog(id)} and seq > (select ${after}::bigint) and seq <= (select ${upTo}::bigint)`

/** A page ends early when its values together are larger than this. */
const MAX_PAGE_BYTES = 8 * 1_048_576

/**
 * Condition of the entries of a page up to the one with which its values exceed MAX_PAGE_BYTES. The database
 * measures them, because a page of large values may be a log of 128 MiB, which each reader would have this
 * process read as a whole.
 */
export function withinPage(entries: Sql, { limit, backwards = false }: PageSize): Sql {
  const order = backwards ? sql`desc` : sql`asc`
  const sums = sql`
    select seq, sum(octet_length(value::text)) over (order by seq ${order}) as bytes
      from (select seq, value from events where ${entries} order by seq ${order} limit ${limit}) as page`
  return backwards
    ? sql`seq >= (select coalesce(max(seq), 0) from (${sums}) as sums where bytes > ${MAX_PAGE_BYTES}::bigint)`
    : sql`seq <= (select coalesce(min(seq), 9223372036854775807)
                    from (${sums}) as sums where bytes > ${MAX_PAGE_BYTES}::bigint)`
}

interface PageSize {
  limit: number
  backwards?: boolean
}

type Valued = Pick<StoredEntry, 'value_json'>

/** True if the values together are larger than a page may be: then the rest of its range was not read. */
export const exceedsPage = (entries: readonly Valued[]): boolean => sizeOfPage(entries) < Infinity

/** Keeps the entries of a page that fit, but at least one. */
export const cutPage = <Entry extends Valued>(entries: readonly Entry[]): Entry[] =>
  entries.slice(0, Math.max(1, sizeOfPage(entries)))

/** Position of the entry with which the page is too large; Infinity for none. */
function sizeOfPage(entries: readonly Valued[]): number {
  let bytes = 0
  const at = entries.findIndex(({ value_json }) => {
    bytes += Buffer.byteLength(value_json)
    return bytes > MAX_PAGE_BYTES
  })
  return at < 0 ? Infinity : at
}

/** Reads up to `limit` entries of one log, in order, and ends early with large ones. */
export async function readLogPage(
  db: Queries,
  id: string,
  range: Range,
  limit: number,
): Promise<StoredEntry[]> {
  const rows = await readWindows(range, { limit, size: limit, isFull: exceedsPage }, (window) => {
    const entries = inRange(id, window)
    return db.rows<StoredEntry>(sql`
      select ${columns} from events where ${entries} and ${withinPage(entries, { limit })} order by seq`)
  })
  return cutPage(rows).slice(0, limit)
}

interface Windows<Row> {
  limit: number
  size: number
  backwards?: boolean
  /** True once no further window is to be read. */
  isFull?: (rows: readonly Row[]) => boolean
}

/**
 * Reads up to `limit` entries of a range, in order or from its end, by windows of `size` positions. A limit of
 * rows alone does not bound what is read: of logs in partitions, the planner sorts all entries after a position
 * when it expects a short log, as most are. Each page of 1,000 entries of a log of 50,000 took up to 80 ms.
 */
export async function readWindows<Row>(
  range: Range,
  { limit, size, backwards = false, isFull = () => false }: Windows<Row>,
  read: (window: Range, limit: number) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  let { after, upTo } = range
  while (after < upTo && rows.length < limit && !isFull(rows)) {
    const window = backwards
      ? { after: Math.max(after, upTo - size), upTo }
      : { after, upTo: Math.min(after + size, upTo) }
    rows.push(...(await read(window, limit - rows.length)))
    if (backwards) upTo = window.after
    else after = window.upTo
  }
  return rows
}

/** Reads entries up to the `last_seq` of a row that was read before its log. */
export const upTo = (
  entries: readonly StoredEntry[],
  { last_seq }: { last_seq: number },
): StoredEntry[] => entries.filter(({ seq }) => seq <= last_seq)

export function byExecution(entries: readonly StoredEntry[]): Map<string, StoredEntry[]> {
  const logs = new Map<string, StoredEntry[]>()
  for (const entry of entries) {
    const log = logs.get(entry.execution_id)
    if (log) log.push(entry)
    else logs.set(entry.execution_id, [entry])
  }
  return logs
}
