import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface Props {
  label: string
  class?: string
  onClose: () => void
  children: ComponentChildren
}

/** A dialog that is open while it is rendered; Esc and a click outside close it. */
export function ModalDialog({ label, onClose, children, ...rest }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    // Closing returns the focus to where it was; removing alone does not.
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      class={rest.class}
      onClose={(event) => {
        // Removal closes it too, and this event follows: another dialog may be open by then.
        if (event.currentTarget.isConnected) onClose()
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close()
      }}
      onKeyDown={(event) => {
        if (event.currentTarget.open) event.stopPropagation()
      }}
    >
      {children}
    </dialog>
  )
}
