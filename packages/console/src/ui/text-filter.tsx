import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { navigate } from '../location/location.ts'

const TYPING_MS = 250
/** A longer example makes its field wider. */
const SHORT_CHARS = 14

export interface TextFilterView {
  /** Parameter of the address, and of the route. */
  name: string
  label: string
  example: string
}

interface Props {
  view: TextFilterView
  query: URLSearchParams
  /** The address with other values. */
  to: (values: Record<string, string | undefined>) => string
  /** Texts to choose from while typing; any other may be typed. */
  choices?: readonly string[] | undefined
  /** Called when the filter gets the focus: choices may be read then. */
  onFocus?: () => void
}

/** A filter that is typed; the address follows when typing pauses. */
export function TextFilter({ view, query, to, choices = [], onFocus }: Props) {
  const { name, label, example } = view
  const listId = useId()
  const given = query.get(name) ?? ''
  const [text, setText] = useState(given)
  // Other filters may be chosen while typing pauses.
  const latest = useRef(to)
  latest.current = to
  const sent = useRef(given)
  useEffect(() => {
    // The address that follows the typing does not replace what has been typed since.
    if (given !== sent.current) setText(given)
    sent.current = given
  }, [given])
  useEffect(() => {
    if (text === given) return
    const follow = () => {
      sent.current = text
      navigate(latest.current({ [name]: text }), { replace: true })
    }
    const timer = setTimeout(follow, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text, given])
  return (
    <label class="text-filter">
      <span>{label}</span>
      <input
        type="search"
        value={text}
        placeholder={example}
        size={example.length > SHORT_CHARS ? example.length + 3 : undefined}
        spellcheck={false}
        list={choices.length > 0 ? listId : undefined}
        onFocus={onFocus}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {choices.length > 0 && (
        <datalist id={listId}>
          {choices.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
    </label>
  )
}
