import type { Queries } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { exceedsPage, inRange, ofLog, type Range, readWindows, withinPage } from './log.ts'

export interface LogPage {
  execution_id: string
  after: number
  /** 0: no limit. */
  before: number
  limit: number
  types: readonly string[]
  max_value_chars?: number | undefined
  /** The last position of the log that is read. */
  last_seq: number
}

export interface PageRow {
  seq: number
  event_id: string
  type: string
  source_id: string
  name: string
  value_json: string
  time: string
  value_bytes: number
  cut: boolean
}

/** Positions that are searched at once for entries of some types. */
const SEARCHED = 10_000

/**
 * Reads up to `limit` entries: the first ones after `after`, or the last ones before `before`, newest
 * first. It ends early with large values.
 */
export const readPage = (db: Queries, page: LogPage): Promise<PageRow[]> => {
  const { after, before, limit, types, last_seq } = page
  const range = { after, upTo: before > 0 ? Math.min(before - 1, last_seq) : last_seq }
  const size = types.length === 0 ? limit : SEARCHED
  const windows = { limit, size, backwards: isBackwards(page), isFull: exceedsPage }
  return readWindows(range, windows, (window, most) =>
    db.rows<PageRow>(pageOf({ ...page, limit: most }, window)),
  )
}

/** Selects up to `limit` entries of a page in a range of positions. */
export function pageOf(page: LogPage, range: Range): Sql {
  const { execution_id, limit, types, max_value_chars: most } = page
  const value =
    most === undefined
      ? sql`value::text as value_json, false as cut`
      : sql`left(value::text, ${most}) as value_json, length(value::text) > ${most} as cut`
  const backwards = isBackwards(page)
  const order = backwards ? sql`desc` : sql`asc`
  const entries = sql`${inRange(execution_id, range)} ${ofTypes(types)}`
  const fits = most === undefined ? withinPage(entries, { limit, backwards }) : sql`true`
  return sql`
    select seq, event_id, type, source_id, name, time, octet_length(value::text)::bigint as value_bytes,
           ${value}
      from events
     where ${entries} and ${fits}
     order by seq ${order} limit ${limit}`
}

/** True if the page is bounded by `before` and not by `after`. */
export const isBackwards = ({ after, before }: Pick<LogPage, 'after' | 'before'>): boolean =>
  before > 0 && after === 0

const ofTypes = (types: readonly string[]): Sql =>
  types.length === 0 ? sql`` : sql`and type = any(${types}::text[])`

/** True if the log has an entry of these types after or before a position. */
export async function hasMore(
  db: Queries,
  { execution_id, types }: LogPage,
  place: { after: number } | { before: number },
): Promise<boolean> {
  // In subselects for the same reason as in `inRange`.
  const condition =
    'after' in place
      ? sql`seq > (select ${place.after}::bigint)`
      : sql`seq < (select ${place.before}::bigint)`
  const row = await db.maybe<{ more: boolean }>(sql`
    select exists (select from events
                    where ${ofLog(execution_id)} and ${condition} ${ofTypes(types)}) as more`)
  return row?.more ?? false
}

export interface PayloadPart {
  part?: Buffer
  total_bytes?: number
  revision: number
}

const TEXTS: Record<string, Sql> = {
  input: sql`input`,
  output: sql`case when state = 'FAILED' then null when state = 'PAUSED' then pause_output else output end`,
  error: sql`case when state = 'FAILED' then output end`,
}

/**
 * Reads a part of a stored text, in bytes of UTF-8; undefined if the execution does not exist, without
 * `part` if the text does not. The text is decompressed once: `json_send` copies it, whereas a cast to text
 * would convert it, and without `offset 0` the planner would repeat that for each use. A part of 16 MiB
 * takes 20 ms instead of 80 to 130.
 */
export const readPart = (
  db: Queries,
  {
    execution_id,
    kind,
    offset,
    length,
  }: { execution_id: string; kind: string; offset: number; length: number },
): Promise<PayloadPart | undefined> =>
  db.maybe<PayloadPart>(sql`
    select revision, octet_length(bytes)::bigint as total_bytes,
           substring(bytes from ${offset + 1}::int for ${length}::int) as part
      from (select revision, json_send(${TEXTS[kind] ?? sql`null::json`}) as bytes from executions
             where execution_id = ${execution_id} offset 0) as stored`)

export interface TimelineEvent {
  seq: number
  type: string
  source_id: string
  name: string
  time: string
  /** A result that the cache of its task had, as its worker says. */
  is_cached: boolean
}

/** Stored bytes of results in which a page looks for that mark: values of a log may be of megabytes each. */
const MARKED_BYTES = 4 * 1_048_576

/** How such a result ends. Operators of JSON would refuse values with escapes that PostgreSQL has no text for. */
const MARK = ',"~cached":true}}'

/** Reads the entries of a range of positions, without their values. */
export const readOutline = (db: Queries, execution_id: string, range: Range) =>
  db.rows<TimelineEvent>(outlineOf(execution_id, range))

/**
 * Selects the entries of a range, for the reason that `readWindows` gives: with a `limit` in the place of the upper
 * bound, the pages of 100,000 entries of a new log took 535 ms instead of 73 ms.
 */
export function outlineOf(execution_id: string, positions: Range): Sql {
  const range = inRange(execution_id, positions)
  return sql`
    select seq, type, source_id, name, time,
           type = 'TASK_COMPLETED' and seq <= (${markedUpTo(range, positions.upTo)})
             and right(value::text, ${MARK.length}) = ${MARK} as is_cached
      from events where ${range} order by seq`
}

/**
 * Selects the last position up to which results are searched for the mark. Running sums take six times as long
 * as the rest of the statement, so they are computed only for a page that is too large as a whole.
 */
const markedUpTo = (range: Sql, upTo: number): Sql => sql`
  select case when coalesce(sum(pg_column_size(value)), 0) <= ${MARKED_BYTES}::bigint then ${upTo}::bigint
              else (select coalesce(max(seq), 0)
                      from (select seq, sum(pg_column_size(value)) over (order by seq) as bytes
                              from events where ${range} and type = 'TASK_COMPLETED') as sums
                     where bytes <= ${MARKED_BYTES}::bigint)
          end
    from events where ${range} and type = 'TASK_COMPLETED'`
