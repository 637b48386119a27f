import { readVisibility } from '@windlass/domain/visibility'
import type { HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import type { Handlers } from '@windlass/rpc/call'
import { invalid } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { listChanges } from '../store/changes.ts'
import { toRow } from './search-executions.ts'

/** Maximum number of executions in one call, as ids or as rows. */
const MAX_CHANGES = 1_000

/** Creates the handler of `ListChanges`. */
export function createListChangesHandler(db: Db): Handlers<typeof HistoryService>['listChanges'] {
  return async ({ search, execution_ids, since, limit }) => {
    if (!search) throw invalid('a search is required')
    if (execution_ids.length > MAX_CHANGES || limit < 1 || limit > MAX_CHANGES)
      throw invalid(`at most ${MAX_CHANGES} executions are listed`)
    const visible = readVisibility(search.visible)
    const request = { filter: search, visible, ids: execution_ids, since, limit }
    const { rows, ...page } = await listChanges(db, request)
    return { ...page, rows: rows.map((row) => ({ row: toRow(row), matches: row.matches })) }
  }
}
