import { useEffect, useState } from 'preact/hooks'
import { FILTER_STATES, viewOf } from '../format/states.ts'
import { changed } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { StateBadge } from '../ui/state-badge.tsx'

const PATH = 'executions'
const TYPING_MS = 250

/** Filters of the list of executions; each is a parameter of the address. */
export function ExecutionFilters({ query }: { query: URLSearchParams }) {
  const state = query.get('state') ?? ''
  const to = (values: Record<string, string | undefined>) =>
    changed(PATH, query, { offset: undefined, ...values })
  const isFiltered = ['state', 'namespace', 'workflow_name'].some((name) => query.get(name))
  return (
    <div class="filters">
      <nav class="chips" aria-label="State">
        <Link
          to={to({ state: undefined })}
          class="chip"
          aria-current={state === '' ? 'true' : undefined}
        >
          All
        </Link>
        {FILTER_STATES.map((one) => (
          <Link
            key={one}
            to={to({ state: state === one ? undefined : one })}
            class="chip"
            aria-current={state === one ? 'true' : undefined}
            title={viewOf(one).meaning}
          >
            <StateBadge state={one} />
          </Link>
        ))}
      </nav>
      <TextFilter name="workflow_name" label="Workflow" query={query} to={to} />
      <TextFilter name="namespace" label="Namespace" query={query} to={to} />
      {isFiltered && (
        <Link to={PATH} class="quiet-link">
          <Icon name="close" /> Clear
        </Link>
      )}
    </div>
  )
}

interface TextProps {
  name: string
  label: string
  query: URLSearchParams
  to: (values: Record<string, string | undefined>) => string
}

/** A filter that is typed; the address follows when typing pauses. */
function TextFilter({ name, label, query, to }: TextProps) {
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
        placeholder="any"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  )
}
