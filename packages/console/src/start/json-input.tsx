interface Props {
  text: string
  /** Why the text is no JSON. */
  problem: string | undefined
  onChange: (text: string) => void
}

/** An input as JSON text, which is sent as it is typed. */
export const JsonInput = ({ text, problem, onChange }: Props) => (
  <label class="card json-input">
    <span>Input (JSON)</span>
    <textarea
      rows={14}
      spellcheck={false}
      value={text}
      aria-invalid={problem !== undefined}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
    {problem && <span class="failure-text">{problem}</span>}
  </label>
)
