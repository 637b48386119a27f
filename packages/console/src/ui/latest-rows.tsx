import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useHeldRows } from './held-rows.ts'
import { NewRows } from './new-rows.tsx'
import { useMedia } from './use-media.ts'

interface Props<Row> {
  rows: readonly Row[]
  idOf: (row: Row) => string
  /** A shown row as it is now, also one that is no longer among the rows; by default as it was. */
  update?: (row: Row) => Row | undefined
  children: (rows: readonly Row[]) => ComponentChildren
}

const asItWas = <Row,>(row: Row): Row => row

/**
 * The newest rows of a list. New ones are shown as they arrive, but wait while the pointer or the focus is in the list, so that
 * a click hits the row that the user sees. On a touch screen, where nothing shows what is aimed at, they wait for the button.
 */
export function LatestRows<Row>({ rows: latest, idOf, update = asItWas, children }: Props<Row>) {
  const list = useRef<HTMLDivElement>(null)
  const [, setLeft] = useState(0)
  const isTouched = useMedia('(hover: none)')
  // The state of the document: an element that is removed while it has the focus sends no event.
  const holds = isTouched || list.current?.matches(':hover, :focus-within') === true
  const { rows, waiting, show } = useHeldRows(latest, { holds, idOf, update })
  const onLeft = () => setLeft((times) => times + 1)
  const onFocusOut = ({ relatedTarget }: FocusEvent) => {
    if (!list.current?.contains(relatedTarget as Node | null)) onLeft()
  }
  const text = waiting === latest.length ? `${waiting} or more new` : `${waiting} new`
  return (
    <div ref={list} class="held-rows" onPointerLeave={onLeft} onFocusOut={onFocusOut}>
      <NewRows onShow={show}>{holds && waiting > 0 && text}</NewRows>
      {children(rows)}
    </div>
  )
}
