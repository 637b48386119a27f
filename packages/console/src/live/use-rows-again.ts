import { useEffect } from 'preact/hooks'
import { type ExecutionRow, listExecutions } from '../api/executions.ts'
import type { Query } from '../api/server.ts'

/** More rows may have been created within the millisecond of the first one. */
const MORE_ROWS = 50
const MAX_ROWS = 1_000

/**
 * Reads the rows again with which a list was left: newer ones may have taken their place on its page, and no event
 * about them was read meanwhile.
 */
export function useRowsAgain(
  returned: readonly ExecutionRow[] | undefined,
  filter: Query,
  take: (rows: readonly ExecutionRow[]) => void,
): void {
  useEffect(() => {
    const [newest] = returned ?? []
    if (!returned || !newest) return
    const left = new AbortController()
    const limit = String(Math.min(returned.length + MORE_ROWS, MAX_ROWS))
    const created_before = soonerOf(filter.created_before, Date.parse(newest.created_at) + 1)
    listExecutions({ ...filter, created_before, limit }, left.signal).then(
      ({ executions }) => take(executions),
      // The list itself is read too, and says what is wrong.
      () => undefined,
    )
    return () => left.abort()
  }, [returned])
}

function soonerOf(given: string | undefined, time: number): string {
  return given && Date.parse(given) < time ? given : new Date(time).toISOString()
}
