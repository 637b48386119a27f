import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { returnedTo } from '../location/returned.ts'

interface HeldRows<Row> {
  rows: readonly Row[]
  waiting: number
  show: () => void
  /** The rows with which the list was left, if it was returned to. */
  returned: readonly Row[] | undefined
  /** Takes rows as they are now; those that are shown and not among them are gone. */
  take: (rows: readonly Row[]) => void
}

interface Options<Row> {
  /** False: rows are shown as they arrive. */
  holds: boolean
  idOf: (row: Row) => string
  /** A row as it is now, also one that is no longer among the latest; undefined if it is gone. */
  update: (row: Row) => Row | undefined
  /** Names the list, which shows the same rows again when the browser goes back to it. */
  name?: string
}

/** The rows of lists that were left, by their names. */
const left = new Map<string, readonly unknown[]>()
const MAX_LEFT = 20

function leave(name: string, rows: readonly unknown[]): void {
  left.delete(name)
  left.set(name, rows)
  const [oldest] = left.keys()
  if (left.size > MAX_LEFT && oldest !== undefined) left.delete(oldest)
}

/** Forgets the rows of every list: another caller has signed in. */
export const forgetRows = (): void => left.clear()

/**
 * Rows of a list that changes while it is read: those that are shown change in place, and new ones wait
 * until they are asked for, so that nothing moves under the pointer.
 */
export function useHeldRows<Row>(latest: readonly Row[], options: Options<Row>): HeldRows<Row> {
  const { holds, idOf, update, name = '' } = options
  const [returned] = useState(() => {
    const rows = holds && returnedTo() ? left.get(name) : undefined
    return rows as readonly Row[] | undefined
  })
  const [shown, setShown] = useState(returned ?? latest)
  const isFirst = useRef(returned === undefined)
  useEffect(() => {
    if (isFirst.current || !holds) setShown(latest)
    else setShown((rows) => (rows.length === 0 ? latest : merge(rows, latest, options)))
    isFirst.current = false
  }, [latest, holds, update])
  useEffect(() => {
    if (name !== '') leave(name, shown)
  }, [name, shown])
  const take = useCallback(
    (now: readonly Row[]) => {
      const asked = new Set(returned?.map(idOf))
      // The answer has none of the rows that have been shown since it was asked for.
      const kept = (row: Row) => (asked.has(idOf(row)) ? undefined : row)
      setShown((rows) =>
        merge(rows, now, { idOf, update: kept }).flatMap((row) => update(row) ?? []),
      )
    },
    [returned, idOf, update],
  )
  const known = new Set(shown.map(idOf))
  const waiting = latest.filter((row) => !known.has(idOf(row))).length
  return { rows: shown, waiting, show: () => setShown(latest), returned, take }
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
