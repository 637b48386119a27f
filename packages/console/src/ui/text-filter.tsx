import { useEffect, useState } from 'preact/hooks'
import { navigate } from '../location/location.ts'

const TYPING_MS = 250

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
}

/** A filter that is typed; the address follows when typing pauses. */
export function TextFilter({ view: { name, label, example }, query, to }: Props) {
  const given = query.get(name) ?? ''
  const [text, setText] = useState(given)
  useEffect(() => setText(given), [given])
  useEffect(() => {
    if (text === given) return
    const timer = setTimeout(() => navigate(to({ [name]: text }), { replace: true }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text, given])
  return (
    <label class="text-filter">
      <span>{label}</span>
      <input
        type="search"
        value={text}
        placeholder={example}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  )
}
