import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useQuery } from '../api/use-query.ts'
import { listWorkers } from '../api/workers.ts'
import { listWorkflows } from '../api/workflows.ts'
import { FILTER_STATES, viewOf } from '../format/states.ts'
import { changed } from '../location/address.ts'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { StateBadge } from '../ui/state-badge.tsx'
import { TextFilter, type TextFilterView } from '../ui/text-filter.tsx'
import { useDisclosure } from '../ui/use-disclosure.ts'

const PATH = 'executions'

/** Filters that are typed; the first two are always shown. */
export const TEXT_FILTERS: readonly TextFilterView[] = [
  { name: 'workflow_name', label: 'Workflow', example: 'any' },
  { name: 'namespace', label: 'Namespace', example: 'any' },
  { name: 'error', label: 'Error has', example: 'timeout' },
  { name: 'payload', label: 'Payload', example: 'input.order=7' },
  { name: 'tags', label: 'Tags', example: 'team=billing' },
  { name: 'version', label: 'Version', example: 'any' },
  { name: 'worker_name', label: 'Worker', example: 'any' },
  { name: 'created_by', label: 'Started by', example: 'any' },
  { name: 'exclude_state', label: 'Not in states', example: 'completed,cancelled' },
  { name: 'schedule_id', label: 'Schedule, by id', example: 'any' },
  { name: 'parent_id', label: 'Nested runs of, by id', example: 'any' },
  { name: 'id', label: 'Id begins with', example: '01a2' },
  { name: 'min_duration', label: 'Ran at least, s', example: '60' },
  { name: 'max_duration', label: 'Ran at most, s', example: '3600' },
  { name: 'created_after', label: 'Created after', example: '2026-11-23T08:00:00Z' },
  { name: 'created_before', label: 'Created before', example: '2026-11-23T09:00:00Z' },
  { name: 'finished_after', label: 'Ended after', example: '2026-11-23T08:00:00Z' },
  { name: 'finished_before', label: 'Ended before', example: '2026-11-23T09:00:00Z' },
]
const ALWAYS = 2

interface Props {
  query: URLSearchParams
  /** Behind the filters: what can be done with all of them. */
  children: ComponentChildren
}

/** Filters of the list of executions; each is a parameter of the address. */
export function ExecutionFilters({ query, children }: Props) {
  const state = query.get('state') ?? ''
  const states = state === '' ? [] : state.split(',')
  const to = (values: Record<string, string | undefined>) =>
    changed(PATH, query, { offset: undefined, ...values })
  const given = TEXT_FILTERS.filter(({ name }) => query.get(name))
  const isFiltered = state !== '' || given.length > 0
  const more = TEXT_FILTERS.slice(ALWAYS)
  const disclosure = useDisclosure(given.some((view) => more.includes(view)))
  const completion = useCompletion()
  const filter = (view: TextFilterView) => (
    <TextFilter
      key={view.name}
      {...{ view, query, to }}
      choices={completion.choices[view.name]}
      onFocus={completion.ask}
    />
  )
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
            to={to({ state: toggled(states, one) })}
            class="chip"
            aria-current={states.includes(one) ? 'true' : undefined}
            title={viewOf(one).meaning}
          >
            <StateBadge state={one} />
          </Link>
        ))}
      </nav>
      {TEXT_FILTERS.slice(0, ALWAYS).map(filter)}
      <details {...disclosure}>
        <summary>More filters</summary>
        <div class="more-filters">{more.map(filter)}</div>
      </details>
      {isFiltered && (
        <Link to={PATH} class="quiet-link" aria-label="Clear the filters">
          <Icon name="close" /> Clear
        </Link>
      )}
      {children}
    </div>
  )
}

const distinct = (names: readonly string[]) => [...new Set(names)].sort()

/** Names that the filters offer; they are read when the first filter gets the focus. */
function useCompletion() {
  const [isAsked, setAsked] = useState(false)
  const workflows = useQuery(isAsked ? 'workflows' : undefined, listWorkflows).data ?? []
  const workers = useQuery(isAsked ? 'workers' : undefined, listWorkers).data ?? []
  const choices: Record<string, string[] | undefined> = {
    workflow_name: distinct(workflows.map(({ name }) => name)),
    namespace: distinct(workflows.map(({ namespace }) => namespace)),
    worker_name: distinct(workers.map(({ name }) => name)),
  }
  return { choices, ask: () => setAsked(true) }
}

/** The states with another one, or without one that was chosen. */
const toggled = (states: readonly string[], one: string): string =>
  (states.includes(one) ? states.filter((state) => state !== one) : [...states, one]).join(',')
