import { membersOf } from '@windlass/runtime/json/json'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Field, problemOfJson, shownOf, withField } from './form.ts'

interface Props {
  fields: readonly Field[]
  text: string
  /** True: the text is not JSON. */
  isUnreadable: boolean
  onChange: (text: string) => void
}

/** Fields for the members of an input; the JSON beside it is what is sent. */
export function InputForm({ fields, text, isUnreadable, onChange }: Props) {
  // A text may have megabytes: it is read once, not for each field.
  const members = useMemo(() => (isUnreadable ? undefined : membersOf(text)), [text, isUnreadable])
  return (
    <fieldset class="card input-form" disabled={isUnreadable}>
      <legend class="visually-hidden">Members of the input</legend>
      {isUnreadable && <p class="faint">Correct the JSON first.</p>}
      {fields.map((field) => (
        <label key={field.name} htmlFor={`field-${field.name}`}>
          <span>
            {field.label}
            {field.isRequired && <span class="faint"> (required)</span>}
          </span>
          <Editor
            field={field}
            value={shownOf(members, field)}
            onChange={(typed) => onChange(withField(text, field, typed))}
          />
          {field.description && <span class="faint">{field.description}</span>}
        </label>
      ))}
    </fieldset>
  )
}

interface EditorProps {
  field: Field
  value: string
  onChange: (typed: string) => void
}

function Editor(props: EditorProps) {
  const { field, value, onChange } = props
  const { name, editor, choices, isRequired } = field
  const id = `field-${name}`
  if (editor === 'switch' || editor === 'choice') {
    const texts = editor === 'switch' ? ['true', 'false'] : choices
    return (
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {(!isRequired || value === '') && <option value="">not given</option>}
        {texts.map((one) => (
          <option key={one} value={one}>
            {one.replace(/^"(.*)"$/, '$1')}
          </option>
        ))}
      </select>
    )
  }
  return <TextEditor {...props} />
}

function TextEditor({ field: { name, editor }, value, onChange }: EditorProps) {
  const input = useRef<HTMLInputElement>(null)
  /** Text that is not accepted yet; the input does not have it. It ends with the value for which it was typed. */
  const [draft, setDraft] = useState<{ text: string; of: string }>()
  const shown = draft?.of === value ? draft.text : undefined
  const isDraft = shown !== undefined
  useLayoutEffect(
    () => input.current?.setCustomValidity(isDraft ? 'This is not valid JSON' : ''),
    [isDraft],
  )
  // A number is taken as it is typed, so that none is rounded; what is no JSON is refused before.
  const isValid = (typed: string) =>
    editor === 'text' || typed === '' || problemOfJson(typed) === undefined
  return (
    <input
      ref={input}
      id={`field-${name}`}
      type="text"
      inputMode={editor === 'number' ? 'decimal' : undefined}
      class={editor === 'text' ? undefined : 'mono'}
      value={shown ?? value}
      onInput={({ currentTarget: { value: typed } }) => {
        const isAccepted = isValid(typed)
        setDraft(isAccepted ? undefined : { text: typed, of: value })
        if (isAccepted) onChange(typed)
      }}
    />
  )
}
