import { listExecutions } from '../api/executions.ts'
import type { Query } from '../api/server.ts'
import { readStats, recently } from '../api/stats.ts'
import { useQuery } from '../api/use-query.ts'
import { FILTER_STATES, viewOf } from '../format/states.ts'
import { count, millis } from '../format/time.ts'
import { lists } from '../live/feed.ts'
import { changed } from '../location/address.ts'
import { Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { StateBadge } from '../ui/state-badge.tsx'
import { VisibleText } from '../ui/visible-text.tsx'
import { filterOf, groupRows } from './groups.ts'

const EVERY_MS = 15_000
/** Workflows, versions and workers of which each is counted: one request for each. */
const NAMES = 5
const RANGE_S = 30 * 86_400

interface Facet {
  name: string
  /** Members of the filter that narrow the list to it. */
  narrows: Record<string, string>
  total: number
  isExact: boolean
}

interface FacetList {
  label: string
  facets: Facet[]
}

/** Counts what the filter finds with another member: exactly, or up to the bound of the server. */
async function countWith(
  filter: Query,
  narrows: Record<string, string>,
  signal: AbortSignal,
): Promise<Pick<Facet, 'total' | 'isExact'>> {
  const page = await listExecutions({ ...filter, ...narrows, limit: '1' }, signal)
  return { total: page.total, isExact: page.total_exact ?? true }
}

type Candidate = Pick<Facet, 'name' | 'narrows'>

/** Names with most executions in the time of the filter. */
async function namesOf(group: string, filter: Query, signal: AbortSignal): Promise<Candidate[]> {
  const { namespace, workflow_name, created_after, created_before } = filter
  const to = millis(created_before)
  const from = millis(created_after)
  const recent = recently(RANGE_S, RANGE_S)
  const end = to ?? recent.to
  const begin = Math.min(from ?? end - RANGE_S * 1_000, end - 1_000)
  const step = Math.max(1, Math.ceil((end - begin) / 1_000))
  const query = { group, namespace, workflow_name }
  const rows = groupRows(await readStats({ from: begin, to: end, step }, query, signal))
  return rows.slice(0, NAMES).flatMap(({ name }) => {
    if (group === 'version')
      return name === '' ? [] : [{ name: `version ${name}`, narrows: { version: name } }]
    const narrows = filterOf(group === 'worker' ? 'worker' : 'workflow', name, '')
    return narrows ? [{ name, narrows }] : []
  })
}

async function readFacets(filter: Query, signal: AbortSignal): Promise<FacetList[]> {
  const ofOne = Boolean(filter.namespace && filter.workflow_name)
  const groups: (readonly [label: string, group: string])[] = [
    ['Workflow', 'workflow'],
    ...(ofOne ? [['Version', 'version'] as const] : []),
    ['Worker', 'worker'],
  ]
  const states = FILTER_STATES.map((state) => ({ name: state, narrows: { state } }))
  const named = await Promise.all(groups.map(([, group]) => namesOf(group, filter, signal)))
  const parts = [
    { label: 'State', candidates: states },
    ...groups.map(([label], i) => ({ label, candidates: named[i] ?? [] })),
  ]
  return Promise.all(
    parts.map(async ({ label, candidates }) => ({
      label,
      facets: await Promise.all(
        candidates.map(async (one: Candidate) => ({
          ...one,
          ...(await countWith(filter, one.narrows, signal)),
        })),
      ),
    })),
  )
}

interface Props {
  filter: Query
  query: URLSearchParams
}

/** Executions of the filter by state, workflow, version and worker; each count narrows the list to it. */
export function Facets({ filter, query }: Props) {
  const answer = useQuery(
    `facets ${JSON.stringify(filter)}`,
    (signal) => readFacets(filter, signal),
    { every: EVERY_MS, live: lists.executions },
  )
  return (
    <section class="card page-body" aria-label="Counts">
      <Loaded answer={answer} lines={3}>
        {(parts) => (
          <>
            <div class="facets">
              {parts.map(({ label, facets }) => (
                <FacetColumn key={label} {...{ label, facets, query }} />
              ))}
            </div>
            <p class="faint">
              Workflows, versions and workers: the {NAMES} with most executions in the time of the
              filter, or in the last 30 days.
            </p>
          </>
        )}
      </Loaded>
    </section>
  )
}

const FacetColumn = ({ label, facets, query }: FacetList & { query: URLSearchParams }) => (
  <nav aria-label={`Counts by ${label.toLowerCase()}`}>
    <h2>{label}</h2>
    {facets.length === 0 && <p class="faint">none</p>}
    <ul>
      {facets.map(({ name, narrows, total, isExact }) => (
        <li key={name}>
          <Link
            to={changed('executions', query, { ...narrows, offset: undefined })}
            aria-label={`Only ${label === 'State' ? viewOf(name).word : name}`}
          >
            {label === 'State' ? <StateBadge state={name} /> : <VisibleText text={name} />}
          </Link>
          <span class="num">
            {isExact ? '' : 'more than '}
            {count(total)}
          </span>
        </li>
      ))}
    </ul>
  </nav>
)
