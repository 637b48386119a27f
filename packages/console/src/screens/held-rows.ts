import { useEffect, useRef, useState } from 'preact/hooks'
import type { ExecutionRow } from '../api/executions.ts'

interface HeldRows {
  rows: readonly ExecutionRow[]
  waiting: number
  show: () => void
}

interface Options {
  /** False: rows are shown as they arrive. */
  holds: boolean
  /** A row as it is now, also one that is no longer among the latest; undefined if it is gone. */
  update: (row: ExecutionRow) => ExecutionRow | undefined
}

/**
 * Rows of a list that changes while it is read: those that are shown change in place, and new ones wait
 * until they are asked for, so that nothing moves under the pointer.
 */
export function useHeldRows(latest: readonly ExecutionRow[], { holds, update }: Options): HeldRows {
  const [shown, setShown] = useState(latest)
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current || !holds) setShown(latest)
    else setShown((rows) => (rows.length === 0 ? latest : merge(rows, latest, update)))
    isFirst.current = false
  }, [latest, holds, update])
  const known = new Set(shown.map(({ execution_id }) => execution_id))
  const waiting = latest.filter(({ execution_id }) => !known.has(execution_id)).length
  return { rows: shown, waiting, show: () => setShown(latest) }
}

/** The shown rows as they are now. One that is no longer in the answer keeps what was last known. */
export function merge(
  shown: readonly ExecutionRow[],
  latest: readonly ExecutionRow[],
  update: Options['update'],
): readonly ExecutionRow[] {
  const now = new Map(latest.map((row) => [row.execution_id, row]))
  return shown.flatMap((row) => now.get(row.execution_id) ?? update(row) ?? [])
}
