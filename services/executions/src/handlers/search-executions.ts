import { readVisibility } from '@windlass/domain/visibility'
import type {
  ExecutionRow,
  HistoryService,
  SearchRequest,
} from '@windlass/proto/windlass/executions/v1/history'
import type { Handlers } from '@windlass/rpc/call'
import { invalid } from '@windlass/runtime/faults'
import { parseId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import * as store from '../store/search.ts'
import * as totals from '../store/totals.ts'

type SearchHandler = Handlers<typeof HistoryService>['search']

/** Creates the handler of `Search`: one page with the number of matches, exact up to 10,000. */
export function createSearchHandler(db: Db): SearchHandler {
  return async (request) => {
    const cursor = request.cursor === '' ? undefined : decodeCursor(request)
    const search = { ...request, visible: readVisibility(request.visible), after: cursor }
    const { count, isExact, ...found } = await findAndCount(db, search, cursor)
    return {
      rows: found.rows.map(toRow),
      total: count,
      total_exact: isExact,
      next_cursor: found.next ? encodeCursor(request, { ...found.next, count, isExact }) : '',
      cut: found.cut,
    }
  }
}

async function findAndCount(db: Db, search: store.Search, cursor: Cursor | undefined) {
  if (!cursor && !hasTotals(search)) return store.searchAndCount(db, search)
  const [found, { count, isExact }] = await Promise.all([
    store.search(db, search),
    cursor ?? countOf(db, search),
  ])
  return { ...found, count, isExact }
}

const countOf = async (db: Db, search: store.Search) => ({
  count: await totals.countStates(db, search),
  isExact: true,
})

/** True if the filters select only states and workflows, for which totals are maintained. */
function hasTotals(search: store.Search): boolean {
  const { tags, payload, min_duration, max_duration, by_finish, ...filters } = search
  const others: (keyof typeof filters)[] = [
    ...(['workflow_version', 'schedule_id', 'worker_name', 'created_by', 'parent_id'] as const),
    ...(['created_after', 'created_before', 'finished_after', 'finished_before'] as const),
    ...(['id_prefix', 'error'] as const),
  ]
  return (
    !by_finish &&
    !payload &&
    Object.keys(tags).length === 0 &&
    min_duration === undefined &&
    max_duration === undefined &&
    others.every((name) => !filters[name])
  )
}

export const toRow = ({ tags_json, ...row }: store.ListedRow): ExecutionRow => ({
  ...row,
  worker_name: row.worker_name ?? '',
  queued_at: row.queued_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
  schedule_id: row.schedule_id ?? '',
  parent_id: row.parent_id ?? '',
  origin_id: row.origin_id,
  origin_seq: row.origin_seq,
  input_bytes: row.input_bytes,
  output_bytes: row.output_bytes,
  error: row.error,
  tags: tags_json === undefined ? {} : JSON.parse(tags_json),
})

/** Position after a page. The number of matches is counted with the first page. */
interface Cursor extends store.Position {
  count: number
  isExact: boolean
}

type Order = Pick<SearchRequest, 'by_finish' | 'ascending'>

const encodeCursor = (
  { by_finish, ascending }: Order,
  { micros, execution_id, count, isExact }: Cursor,
): string =>
  Buffer.from(
    JSON.stringify([by_finish, ascending, micros, execution_id, count, isExact]),
  ).toString('base64url')

function decodeCursor({ cursor, by_finish, ascending }: SearchRequest): Cursor {
  const fields = parseFields(cursor)
  if (!fields) throw invalid("The cursor is malformed. Use 'next_cursor' of the page before.")
  const [wasByFinish, wasAscending, micros, id, count, isExact] = fields
  const execution_id = typeof id === 'string' ? parseId(id) : undefined
  if (!execution_id || !isCount(micros) || !isCount(count) || typeof isExact !== 'boolean')
    throw invalid("The cursor is malformed. Use 'next_cursor' of the page before.")
  if (wasByFinish !== by_finish || wasAscending !== ascending)
    throw invalid('The cursor belongs to a list in another order. Start again without a cursor.')
  return { micros, execution_id, count, isExact }
}

function parseFields(cursor: string): unknown[] | undefined {
  try {
    const fields: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(fields) ? fields : undefined
  } catch {
    return undefined
  }
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 8e15
