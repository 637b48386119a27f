import { useRef } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

interface Props {
  label: string
  icon: IconName
  question: string
  /** Consequence of the action. */
  text: string
  /** The button that does it, named by what it does. */
  confirm: string
  isBusy?: boolean
  /** Why it cannot be done, such as a missing permission. */
  refusal?: string | undefined
  onConfirm: () => void
}

/** A button that asks for confirmation before it acts. */
export function ConfirmButton(props: Props) {
  const { label, icon, question, text, confirm, isBusy, refusal, onConfirm } = props
  const dialog = useRef<HTMLDialogElement>(null)
  return (
    <>
      <button
        type="button"
        class="danger"
        disabled={isBusy || refusal !== undefined}
        title={refusal}
        onClick={() => dialog.current?.showModal()}
      >
        <Icon name={icon} /> {label}
      </button>
      <dialog ref={dialog} aria-label={question}>
        <h1>{question}</h1>
        <p>{text}</p>
        <div class="actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            No
          </button>
          <button
            type="button"
            class="danger"
            onClick={() => {
              dialog.current?.close()
              onConfirm()
            }}
          >
            {confirm}
          </button>
        </div>
      </dialog>
    </>
  )
}
