import type { ComponentChildren } from 'preact'
import { EditedNotice } from './edited-notice.tsx'
import { FailureText } from './failure-text.tsx'
import { Icon, type IconName } from './icon.tsx'
import { useAct } from './use-act.ts'
import type { Edited } from './use-edited.ts'

interface Props<T> {
  title: string
  icon?: IconName
  /** Name of the button that sends the form. */
  submit: string
  /** The permission that the caller lacks, if so. */
  refusal: string | undefined
  /**
   * Sends the form; its fields are emptied afterwards, and the form of an object is closed. `now`: the object as it was
   * read just before.
   */
  run: (fields: FormData, now?: T) => Promise<void>
  /** The object that the form changes. */
  edited?: Edited<T> | undefined
  children: ComponentChildren
}

/** A form that is opened when it is needed. */
export const FormPanel = <T,>(props: Props<T>) => <Panel key={props.edited?.formKey} {...props} />

function Panel<T>({ title, icon = 'plus', submit, refusal, edited, ...props }: Props<T>) {
  const { isBusy, failure, act } = useAct()
  const send = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const focused = document.activeElement
    const send = act(async () => {
      const fields = new FormData(form)
      if (!edited) {
        await props.run(fields)
        form.reset()
      } else {
        await edited.whileSame((now) => props.run(fields, now))
        await edited.onSaved()
      }
    })
    void send.then(() => requestAnimationFrame(() => focusAgain(focused)))
  }
  return (
    <details class="card form-panel">
      <summary>
        <Icon name={icon} /> {title}
      </summary>
      <form aria-label={title} onSubmit={send} onInput={edited?.onType}>
        {/* What is typed while the request is under way would be lost with its answer. */}
        <fieldset key={edited?.fieldsKey} class="form-fields" role="none" disabled={isBusy}>
          {props.children}
        </fieldset>
        <div class="actions">
          <button
            type="submit"
            class="primary"
            disabled={isBusy || refusal !== undefined}
            title={refusal}
          >
            {submit}
          </button>
          {refusal && <span class="faint">{refusal}</span>}
        </div>
        <FailureText text={failure} />
        {edited && !isBusy && <EditedNotice edited={edited} />}
      </form>
    </details>
  )
}

/** A control loses the focus while it is disabled. */
function focusAgain(control: Element | null): void {
  if (document.activeElement === document.body && control instanceof HTMLElement)
    control.focus({ preventScroll: true })
}

interface FieldProps {
  label: string
  hint?: string
  isWide?: boolean
  children: ComponentChildren
}

/** A control with its name and a line about it. */
export const FormField = ({ label, hint, isWide, children }: FieldProps) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is one of the children.
  <label class={isWide ? 'form-field wide' : 'form-field'}>
    <span>{label}</span>
    {children}
    {hint && <span class="faint">{hint}</span>}
  </label>
)
