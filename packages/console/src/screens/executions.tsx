import { type ExecutionPage, listExecutions } from '../api/executions.ts'
import { useQuery } from '../api/use-query.ts'
import { count } from '../format/time.ts'
import { changed, wholeOf } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { ExecutionTable } from '../ui/execution-table.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { ExecutionFilters, TEXT_FILTERS } from './execution-filters.tsx'
import { useHeldRows } from './held-rows.ts'

const PATH = 'executions'
const PAGE = 50
const EVERY_MS = 2_000

const FILTERS = ['state', ...TEXT_FILTERS.map(({ name }) => name)]

/** The list of executions: its filters and its page are in the address. */
export function ExecutionsScreen({ place: { query } }: ScreenProps) {
  const offset = wholeOf(query.get('offset'), 0)
  const filter = Object.fromEntries(
    FILTERS.map((name) => [name, query.get(name) ?? undefined] as const),
  )
  const asked = { ...filter, limit: String(PAGE), offset: String(offset) }
  const key = `executions ${JSON.stringify(asked)}`
  const answer = useQuery(key, (signal) => listExecutions(asked, signal), { every: EVERY_MS })
  const isFiltered = FILTERS.some((name) => filter[name])
  return (
    <Page
      title="Executions"
      aside={answer.data && <span class="count">{totalOf(answer.data)}</span>}
    >
      <ExecutionFilters query={query} />
      <Loaded answer={answer} lines={12}>
        {(page) => <List key={key} page={page} isFiltered={isFiltered} />}
      </Loaded>
      {answer.data?.cut && (
        <p class="stale">The search ended at its bound: narrow it with a workflow or a time.</p>
      )}
      {answer.data && <Pager query={query} page={answer.data} />}
    </Page>
  )
}

/** A count that is not exact says so. */
const totalOf = ({ total, total_exact = true }: ExecutionPage) =>
  `${total_exact ? '' : 'more than '}${count(total)}`

function List({ page, isFiltered }: { page: ExecutionPage; isFiltered: boolean }) {
  // On later pages rows move when others arrive; on the first one new rows wait to be shown.
  const { rows, waiting, show } = useHeldRows(page.executions, page.offset === 0)
  if (rows.length === 0) return <NoRows isFiltered={isFiltered} />
  return (
    <>
      {waiting > 0 && (
        <button type="button" class="new-rows" onClick={show}>
          {waiting} new
        </button>
      )}
      <ExecutionTable rows={rows} />
    </>
  )
}

function NoRows({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No execution matches">
        <p>
          <Link to={PATH}>Remove the filters</Link>
        </p>
      </Empty>
    )
  return (
    <Empty title="Nothing has run yet">
      <p>
        Upload a workflow and run it. From a terminal:{' '}
        <code>
          curl -F file=@examples/hello_world.py {new URL('..', document.baseURI).href}workflows
        </code>
      </p>
    </Empty>
  )
}

function Pager({ query, page }: { query: URLSearchParams; page: ExecutionPage }) {
  const { offset, limit, total, total_exact = true, executions } = page
  if (offset === 0 && total <= limit) return null
  const at = (to: number) => changed(PATH, query, { offset: to > 0 ? to : undefined })
  return (
    <nav class="pager" aria-label="Pages">
      <span class="num">
        {count(Math.min(offset + 1, total))}–{count(offset + executions.length)} of {totalOf(page)}
      </span>
      <button type="button" disabled={offset === 0} onClick={() => navigate(at(offset - limit))}>
        <Icon name="left" /> Newer
      </button>
      <button
        type="button"
        disabled={total_exact && offset + limit >= total}
        onClick={() => navigate(at(offset + limit))}
      >
        Older <Icon name="right" />
      </button>
    </nav>
  )
}
