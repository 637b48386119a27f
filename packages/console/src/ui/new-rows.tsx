import type { ComponentChildren } from 'preact'

interface Props {
  onShow: () => void
  /** The number of rows that wait; nothing if none does. */
  children: ComponentChildren
}

/** The button that shows rows which arrived meanwhile, above a list, where it moves nothing. */
export const NewRows = ({ onShow, children }: Props) => (
  <div class="new-rows">
    {children && (
      <button type="button" onClick={onShow}>
        {children}
      </button>
    )}
  </div>
)
