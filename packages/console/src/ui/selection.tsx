import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface Props {
  /** Called with the ends of what was dragged over, as parts of the width from 0 to 1. */
  onSelect: ((from: number, to: number) => void) | undefined
  children: ComponentChildren
}

/** Place of the pointer as a part of the width. */
function placeOf({ currentTarget, clientX }: PointerEvent): number {
  const { left, width } = (currentTarget as Element).getBoundingClientRect()
  return width === 0 ? 0 : Math.min(1, Math.max(0, (clientX - left) / width))
}

/** A picture over which a part can be dragged. What it selects is also offered without a pointer. */
export function Selection({ onSelect, children }: Props) {
  const [drag, setDrag] = useState<{ from: number; to: number }>()
  if (!onSelect) return <>{children}</>
  const end = () => {
    if (drag) onSelect(drag.from, drag.to)
    setDrag(undefined)
  }
  return (
    <div
      class="selectable"
      title="Drag to select a time"
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrag({ from: placeOf(event), to: placeOf(event) })
      }}
      onPointerMove={(event) => drag && setDrag({ ...drag, to: placeOf(event) })}
      onPointerUp={end}
      onPointerCancel={() => setDrag(undefined)}
    >
      {children}
      {drag && (
        <svg class="dragged" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
          <rect x={Math.min(drag.from, drag.to)} width={Math.abs(drag.to - drag.from)} height="1" />
        </svg>
      )}
    </div>
  )
}
