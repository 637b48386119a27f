import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { useAnnounced } from './announce.ts'

interface Props {
  onShow: () => void
  /** The number of rows that wait; nothing if none does. */
  children: ComponentChildren
}

/** The button that shows rows which arrived meanwhile, above a list, where it moves nothing. */
export function NewRows({ onShow, children }: Props) {
  // Their number changes many times a second.
  useAnnounced(children ? 'There are new rows. A button above the list shows them.' : undefined)
  const place = useRef<HTMLDivElement>(null)
  const onClick = ({ detail }: MouseEvent) => {
    onShow()
    // Pressed with a key: the button is removed, and the next key continues from its place.
    if (detail === 0) place.current?.focus({ preventScroll: true })
  }
  return (
    <div ref={place} class="new-rows" tabIndex={-1}>
      {children && (
        <button type="button" onClick={onClick}>
          {children}
        </button>
      )}
    </div>
  )
}
