import type { ComponentChildren } from 'preact'
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
  return (
    <div class="new-rows">
      {children && (
        <button type="button" onClick={onShow}>
          {children}
        </button>
      )}
    </div>
  )
}
