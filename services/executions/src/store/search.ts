import type { Visibility } from '@windlass/domain/visibility'
import type { Queries } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { matches, type SearchFilter } from './search-filter.ts'
import { type Candidates, candidatesOf } from './search-plan.ts'

/**
 * Search with a bounded cost. Candidates are read by an index, in the order of the answer: at most
 * MAX_CANDIDATES. The other filters are applied to them. Where candidates come from several ranges of an
 * index, the newest of each range are read, of many ranges in proportion to their sizes; rows behind the last
 * candidate of a range that was not read to its end (the frontier) are not known to be next and are left to
 * the next page.
 *
 * The first page comes with the number of matches. It needs all candidates, so the statement that reads them
 * for a page counts, too.
 *
 * All candidates are rows that the caller may read. Otherwise the frontier, which is part of the cursor,
 * would tell about others.
 */
export interface Search extends SearchFilter {
  visible: Visibility
  by_finish: boolean
  ascending: boolean
  after?: Position | undefined
  limit: number
  offset: number
}

/** Position in the order of a search: microseconds since 1970, and the execution. */
export interface Position {
  micros: number
  execution_id: string
}

export interface Found {
  rows: ListedRow[]
  /** Start of the next page; absent: there are no more matches. */
  next?: Position | undefined
  /** True if candidates were left unread although the page is not full. */
  cut: boolean
}

export interface ListedRow {
  execution_id: string
  workflow_id: string
  workflow_namespace: string
  workflow_name: string
  workflow_version: number
  state: string
  worker_name?: string
  created_at: Date
  updated_at: Date
  queued_at?: Date
  started_at?: Date
  finished_at?: Date
  attempts: number
  created_by: string
  schedule_id?: string
  parent_id?: string
  origin_id?: string
  origin_seq?: number
  input_bytes?: number
  output_bytes?: number
  error?: string
  tags_json?: string
  revision: number
  last_seq: number
  /** Position in the order of the search. */
  micros: number
}

/** Maximum number of candidates of one query. */
const MAX_CANDIDATES = 10_001
/**
 * Numbers of candidates that are read until the page is full: at first so many times the rows of the page and at
 * least MIN_CANDIDATES, which is enough if most match.
 */
const TIMES_OF_PAGE = 4
const MIN_CANDIDATES = 100
const FEW_CANDIDATES = 1_000
/** Up to this number of ranges, each may be read up to the bound. */
const FEW_RANGES = 4

export const listedColumns = sql`
  e.execution_id, e.workflow_id, e.workflow_namespace, e.workflow_name, e.workflow_version, e.state,
  e.worker_name, e.created_at, e.updated_at, e.queued_at, e.started_at, e.finished_at, e.attempts,
  e.created_by, e.schedule_id, e.parent_id, e.input_bytes, e.output_bytes, e.error,
  e.tags as tags_json, e.revision, e.last_seq, e.origin_id, e.origin_seq`

/** Reads one page. */
export async function search(db: Queries, request: Search): Promise<Found> {
  return readPage(db, request, await candidatesOf(db, request))
}

/**
 * Reads the first page and counts the matches. `isExact` is false if the number is a lower bound: there are more
 * than MAX_COUNT, or not all candidates were read.
 */
export async function searchAndCount(db: Queries, request: Search): Promise<Found & Count> {
  const candidates = await candidatesOf(db, request)
  if (canCountWithPage(candidates)) {
    // Most documents do not have a value that is searched for, but other filters match often: then counting is cheaper.
    const most = firstStepOf(request)
    const few =
      request.payload || most > FEW_CANDIDATES
        ? undefined
        : await read(db, request, candidates, most)
    if (!few || few.cut) return read(db, request, candidates, MAX_CANDIDATES)
    return few.isExact ? few : { ...few, ...(await countMatches(db, request, candidates)) }
  }
  const [found, count] = await Promise.all([
    readPage(db, request, candidates),
    countMatches(db, request, candidates),
  ])
  return { ...found, ...count }
}

interface Count {
  count: number
  isExact: boolean
}

/** Matches beyond this number are not counted. */
const MAX_COUNT = MAX_CANDIDATES - 1

/**
 * True if the page reads all candidates unless there are more than MAX_COUNT. Ranges of unknown sizes may be read in
 * part: so are those with a range of time.
 */
const canCountWithPage = ({ sizes, isSizeKnown }: Candidates): boolean =>
  sizes.length <= FEW_RANGES || isSizeKnown || sumOf(sizes) <= MAX_COUNT

const firstStepOf = ({ limit, offset }: Search): number =>
  Math.max(MIN_CANDIDATES, TIMES_OF_PAGE * (limit + offset))

async function readPage(db: Queries, request: Search, candidates: Candidates): Promise<Found> {
  const page = candidates.areMatches ? { ...request, offset: 0, skipped: request.offset } : request
  const steps = [firstStepOf(page), FEW_CANDIDATES].filter((most) => most <= FEW_CANDIDATES)
  for (const most of steps) {
    const found = await read(db, page, candidates, most)
    if (!found.cut) return found
  }
  return read(db, page, candidates, MAX_CANDIDATES)
}

async function countMatches(
  db: Queries,
  request: Search,
  { from, sizes, rest = request }: Candidates,
): Promise<Count> {
  const limits = sizes.map(() => MAX_CANDIDATES)
  const row = await db.maybe<{ read: number; hits: number }>(sql`
    select count(*)::bigint as read, count(*) filter (where hit) as hits
      from (select hit from (${from(sql`(${matches(rest)}) as hit`, sql``, limits)}) as candidate
             limit ${MAX_CANDIDATES}) as candidates`)
  const { read = 0, hits = 0 } = row ?? {}
  return { count: Math.min(hits, MAX_COUNT), isExact: read < MAX_CANDIDATES }
}

/** A page of which some rows of its offset are not read as candidates, but skipped in the index. */
interface PageRequest extends Search {
  skipped?: number
}

interface FoundRow extends Partial<ListedRow> {
  frontier_micros?: number
  frontier_id?: string
  hits: number
}

async function read(
  db: Queries,
  request: PageRequest,
  candidates: Candidates,
  most: number,
): Promise<Found & Count> {
  const { limit } = request
  const rows = await db.rows<FoundRow>(
    statement(request, candidates, limitsOf(request, candidates, most)),
  )
  const [first] = rows
  const listed = rows.filter((row): row is FoundRow & ListedRow => row.execution_id !== undefined)
  const page = listed.slice(0, limit)
  const last = listed.length > limit ? page.at(-1) : undefined
  const { frontier_micros: micros, frontier_id: execution_id, hits = 0 } = first ?? {}
  const frontier =
    execution_id === undefined || micros === undefined ? undefined : { micros, execution_id }
  return {
    ...{ rows: page, next: last ?? frontier, cut: !last && frontier !== undefined },
    ...{ count: Math.min(hits, MAX_COUNT), isExact: !frontier && hits <= MAX_COUNT },
  }
}

/** Maximum number of rows of each range: together about `most` of many ranges, in the order of time as far as known. */
function limitsOf(request: Search, { sizes }: Candidates, most: number): number[] {
  const wanted = request.limit + request.offset + 1
  // A large offset must not have more documents read: a page without rows and the frontier are the answer.
  const least = request.payload ? Math.min(wanted, most) : wanted
  const sum = Math.max(1, sumOf(sizes))
  return sizes.map((size) =>
    Math.max(least, sizes.length <= FEW_RANGES ? most : Math.ceil((most * size) / sum)),
  )
}

const sumOf = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0)

function statement(request: PageRequest, candidates: Candidates, limits: readonly number[]): Sql {
  const { from, key, id, rest = request } = candidates
  const { ascending, limit, offset, skipped = 0 } = request
  const order = ascending ? sql`asc` : sql`desc`
  const reverse = ascending ? sql`desc` : sql`asc`
  const isBefore = ascending ? sql`<=` : sql`>=`
  const columns = sql`e.execution_id, ${key} as key, (${matches(rest)}) as hit`
  const first = skipped > 0 ? sql`offset ${skipped}::bigint` : sql``
  const inOrder = sql`${isAfter(request, key, id)} order by ${key} ${order}, ${id} ${order} ${first}`
  return sql`
    with candidates as materialized (${from(columns, inOrder, limits)}),
    unread as (
      select range from candidates group by range having count(*) >= (${limits}::bigint[])[range::int]),
    ends as (
      select distinct on (range) key, execution_id from candidates
       where (range in (select range from unread)) is true order by range, key ${reverse}, execution_id ${reverse}),
    frontier as (
      select key, execution_id from ends order by key ${order}, execution_id ${order} limit 1),
    hits as (select execution_id, key from candidates where hit),
    picked as (
      select hits.* from hits left join frontier on true
       where frontier.key is null
          or (hits.key, hits.execution_id) ${isBefore} (frontier.key, frontier.execution_id)
       order by hits.key ${order}, hits.execution_id ${order} limit ${limit + 1} offset ${offset}::bigint)
    select ${microsOf(sql`frontier.key`)} as frontier_micros, frontier.execution_id as frontier_id,
           (select count(*) from candidates where hit) as hits,
           ${microsOf(sql`picked.key`)} as micros, ${listedColumns}
      from (select 1) as one
      left join frontier on true
      left join (picked join executions e using (execution_id)) on true
     order by picked.key ${order}, e.execution_id ${order}`
}

const microsOf = (time: Sql) => sql`(extract(epoch from ${time}) * 1000000)::bigint`

function isAfter({ after, ascending }: Search, key: Sql, id: Sql): Sql {
  if (!after) return sql``
  const comparison = ascending ? sql`>` : sql`<`
  const time = sql`timestamptz 'epoch' + ${after.micros}::bigint * interval '1 microsecond'`
  return sql`and (${key}, ${id}) ${comparison} (${time}, ${after.execution_id}::uuid)`
}
