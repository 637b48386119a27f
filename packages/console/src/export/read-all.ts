import type { ExecutionPage, ExecutionRow } from '../api/executions.ts'
import type { Query } from '../api/server.ts'

const PAGE = 500
/** Rows of one file; what is left out is said. The server counts so many exactly. */
const MAX_ROWS = 10_000

/** Reads the rows of a search, newest first; `isWhole` is false if there are others. */
export async function readAll(
  list: (page: Query) => Promise<ExecutionPage>,
  onProgress: (rows: number) => void,
): Promise<{ rows: ExecutionRow[]; isWhole: boolean }> {
  const rows = new Map<string, ExecutionRow>()
  for (let offset = 0; ; offset += PAGE) {
    const page = await list({ limit: String(PAGE), offset: String(offset) })
    // Rows that arrive meanwhile move others to the next page; none is written twice.
    for (const row of page.executions) rows.set(row.execution_id, row)
    onProgress(rows.size)
    const isLast = page.executions.length < PAGE
    if (!isLast && offset + PAGE < MAX_ROWS) continue
    const areMore = page.total_exact === false || page.total > MAX_ROWS
    return { rows: [...rows.values()], isWhole: !page.cut && (isLast || !areMore) }
  }
}
