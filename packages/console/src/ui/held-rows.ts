import { useEffect, useRef, useState } from 'preact/hooks'

interface HeldRows<Row> {
  rows: readonly Row[]
  waiting: number
  show: () => void
}

interface Options<Row> {
  /** False: rows are shown as they arrive. */
  holds: boolean
  idOf: (row: Row) => string
  /** A row as it is now, also one that is no longer among the latest; undefined if it is gone. */
  update: (row: Row) => Row | undefined
}

/**
 * Rows of a list that changes while it is read: those that are shown change in place, and new ones wait
 * until they are asked for, so that nothing moves under the pointer.
 */
export function useHeldRows<Row>(latest: readonly Row[], options: Options<Row>): HeldRows<Row> {
  const { holds, idOf, update } = options
  const [shown, setShown] = useState(latest)
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current || !holds) setShown(latest)
    else setShown((rows) => (rows.length === 0 ? latest : merge(rows, latest, options)))
    isFirst.current = false
  }, [latest, holds, update])
  const known = new Set(shown.map(idOf))
  const waiting = latest.filter((row) => !known.has(idOf(row))).length
  return { rows: shown, waiting, show: () => setShown(latest) }
}

/** The shown rows as they are now. One that is no longer in the answer keeps what was last known. */
export function merge<Row>(
  shown: readonly Row[],
  latest: readonly Row[],
  { idOf, update }: Pick<Options<Row>, 'idOf' | 'update'>,
): readonly Row[] {
  const now = new Map(latest.map((row) => [idOf(row), row]))
  return shown.flatMap((row) => now.get(idOf(row)) ?? update(row) ?? [])
}
