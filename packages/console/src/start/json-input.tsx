import { count } from '../format/time.ts'
import { VisibleText } from '../ui/visible-text.tsx'

/**
 * Characters up to which a text is edited in the page. Chromium takes minutes to lay out five million of them in a
 * field, and answers to nothing meanwhile.
 */
const MAX_EDITED = 200_000
/** Characters of a longer text that are shown. */
const SHOWN = 1_000

/** True for a text that is sent as it is, without fields for its members. */
export const isTooLongToEdit = (text: string): boolean => text.length > MAX_EDITED

interface Props {
  text: string
  /** Why the text is not JSON. */
  problem: string | undefined
  onChange: (text: string) => void
}

/** An input as JSON text, which is sent as it is typed, pasted or read from a file. */
export const JsonInput = ({ text, problem, onChange }: Props) => (
  <div class="card json-input">
    {isTooLongToEdit(text) ? (
      <LongText text={text} onClear={() => onChange('')} />
    ) : (
      <Editor {...{ text, problem, onChange }} />
    )}
    {problem && (
      <span class="failure-text" role="status">
        {problem}
      </span>
    )}
    <FileChoice onChange={onChange} />
  </div>
)

const Editor = ({ text, problem, onChange }: Props) => (
  <label>
    <span>Input (JSON)</span>
    <textarea
      rows={14}
      spellcheck={false}
      value={text}
      aria-invalid={problem !== undefined}
      onInput={(event) => onChange(event.currentTarget.value)}
      onPaste={(event) => {
        const { selectionStart, selectionEnd, value } = event.currentTarget
        const pasted = event.clipboardData?.getData('text/plain') ?? ''
        const next = value.slice(0, selectionStart) + pasted + value.slice(selectionEnd)
        if (!isTooLongToEdit(next)) return
        event.preventDefault()
        onChange(next)
      }}
    />
  </label>
)

/** Stands for a text that no field could show. */
const LongText = ({ text, onClear }: { text: string; onClear: () => void }) => (
  <>
    <div class="payload-head">
      <h2>Input (JSON)</h2>
      <span class="faint">{count(text.length)} characters</span>
      <button type="button" aria-label="Clear the input" onClick={onClear}>
        Clear
      </button>
    </div>
    <p class="faint">It is too long to be edited here, and is sent as it is. It begins with:</p>
    <pre class="json" tabIndex={0} role="region" aria-label="Beginning of the input">
      <VisibleText text={text.slice(0, SHOWN)} />…
    </pre>
  </>
)

const FileChoice = ({ onChange }: Pick<Props, 'onChange'>) => (
  <label class="drop-choice">
    <span>Input from a file</span>
    <input
      type="file"
      accept=".json,application/json"
      onChange={async ({ currentTarget: field }) => {
        const [file] = field.files ?? []
        if (file) onChange(await file.text())
        // The same file can be chosen again after a change.
        field.value = ''
      }}
    />
  </label>
)
