import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Below this every row is drawn, so that the browser's search finds all of them. */
const ALL_ROWS = 300
const MORE_ROWS = 20

interface Props<T> {
  items: readonly T[]
  /** Pixels of one row. */
  height: number
  label: string
  keyOf: (item: T) => string
  render: (item: T) => ComponentChildren
}

/** A list that draws the rows in view only, in a frame of its own height that scrolls. */
export function VirtualList<T>({ items, height, label, keyOf, render }: Props<T>) {
  const frame = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [view, setView] = useState(600)
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const watcher = new ResizeObserver(() => setView(element.clientHeight))
    watcher.observe(element)
    return () => watcher.disconnect()
  }, [])
  const isWhole = items.length <= ALL_ROWS
  const first = isWhole ? 0 : Math.max(0, Math.floor(top / height) - MORE_ROWS)
  const last = isWhole ? items.length : Math.ceil((top + view) / height) + MORE_ROWS
  const before = first * height
  const after = Math.max(0, items.length - last) * height
  return (
    <div
      ref={frame}
      class={isWhole ? undefined : 'virtual'}
      tabIndex={isWhole ? undefined : 0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <ul aria-label={label} style={{ paddingTop: `${before}px`, paddingBottom: `${after}px` }}>
        {items.slice(first, last).map((item, i) => (
          <li
            key={keyOf(item)}
            aria-setsize={items.length}
            aria-posinset={first + i + 1}
            style={{ height: `${height}px` }}
          >
            {render(item)}
          </li>
        ))}
      </ul>
    </div>
  )
}
