import { useEffect, useMemo, useState } from 'preact/hooks'
import { type ExecutionPage, type ExecutionRow, listExecutions } from '../api/executions.ts'
import { LIST } from '../api/intervals.ts'
import type { Query } from '../api/server.ts'
import { type Answer, useQuery } from '../api/use-query.ts'
import { feed } from './feed.ts'
import { LiveRows } from './live-rows.ts'

export interface LiveExecutions extends Answer<ExecutionPage> {
  /** Rows of the page as they are now. */
  rows: readonly ExecutionRow[]
  isLive: boolean
  /** Changes since the last read that were too many to be sent. */
  skipped: number
  update: (row: ExecutionRow) => ExecutionRow | undefined
}

const NONE: readonly ExecutionRow[] = []

interface Source {
  /** Name of the list among the answers that are kept. */
  name: string
  load: typeof listExecutions
}

const ALL: Source = { name: 'executions', load: listExecutions }

/**
 * Reads a page of executions, whose rows then change by events; without a stream it is polled. Another source has the
 * same rows as that of all executions has with the filter.
 */
export function useLiveExecutions(
  filter: Query,
  page: Query,
  { name, load }: Source = ALL,
): LiveExecutions {
  const key = `${name} ${JSON.stringify([filter, page])}`
  const source = useMemo(() => new LiveRows(feed, filter), [key])
  const answer = useQuery(
    key,
    (signal, age) => source.read(() => load({ ...filter, ...page }, signal, age), age),
    { every: LIST.every, live: source },
  )
  const [changes, setChanges] = useState(0)
  useEffect(() => source.watch(() => setChanges((count) => count + 1)), [source])
  const { data } = answer
  const rows = useMemo(() => (data ? source.rowsOf(data) : NONE), [data, source, changes])
  const { isLive, skipped, latest: update } = source
  return { ...answer, rows, isLive, skipped, update }
}
