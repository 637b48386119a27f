import { useRef } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import { Refusal } from './refusal.tsx'

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
  /** True in a list that says once why none of its buttons works. */
  sharesRefusal?: boolean
  onConfirm: () => void
}

/** A button that asks for confirmation before it acts. */
export function ConfirmButton(props: Props) {
  const { label, icon, question, text, confirm, isBusy, refusal, sharesRefusal, onConfirm } = props
  const dialog = useRef<HTMLDialogElement>(null)
  return (
    <>
      <button
        type="button"
        class="danger"
        // The question begins with the label, and says what it is about.
        aria-label={question.replace(/\?$/, '')}
        disabled={isBusy || refusal !== undefined}
        title={refusal}
        onClick={() => dialog.current?.showModal()}
      >
        <Icon name={icon} /> {label}
      </button>
      {!sharesRefusal && <Refusal text={refusal} />}
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
