import { useEffect } from 'preact/hooks'
import { type ExecutionPage, idOf } from '../api/executions.ts'
import type { Query } from '../api/server.ts'
import { ExportMenu } from '../export/export-menu.tsx'
import { count } from '../format/time.ts'
import { type LiveExecutions, useLiveExecutions } from '../live/use-live-executions.ts'
import { useRowsAgain } from '../live/use-rows-again.ts'
import { changed, wholeOf } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { lazy } from '../shell/lazy.tsx'
import { announce } from '../ui/announce.ts'
import { ExecutionTable } from '../ui/execution-table.tsx'
import { Empty, isForbidden, Loaded, Loading, problemOf } from '../ui/feedback.tsx'
import { useHeldRows } from '../ui/held-rows.ts'
import { Link } from '../ui/link.tsx'
import { NewRows } from '../ui/new-rows.tsx'
import { Page } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { ExecutionFilters, TEXT_FILTERS } from './execution-filters.tsx'

const PATH = 'executions'
const PAGE = 50
const MAX_PAGE = 1_000

const Overview = lazy(
  async () => (await import('../overview/overview.tsx')).Overview,
  <section class="over-time">
    <Loading />
  </section>,
)
const Facets = lazy(async () => (await import('../overview/facets.tsx')).Facets)
const SavedViews = lazy(async () => (await import('../views/saved-views.tsx')).SavedViews)
const BulkPanel = lazy(
  async () => (await import('../bulk/bulk-panel.tsx')).BulkPanel,
  <div class="card faint">…</div>,
)
const SelectionPanel = lazy(
  async () => (await import('../bulk/selection-panel.tsx')).SelectionPanel,
)

const FILTERS = ['state', ...TEXT_FILTERS.map(({ name }) => name)]

/** The list of executions: its filters and its page are in the address. */
export function ExecutionsScreen({ place: { query } }: ScreenProps) {
  const offset = wholeOf(query.get('offset'), 0)
  const filter = Object.fromEntries(
    FILTERS.map((name) => [name, query.get(name) ?? undefined] as const),
  )
  const limit = wholeOf(query.get('limit'), PAGE, MAX_PAGE) || PAGE
  const page = { limit: String(limit), offset: String(offset) }
  const answer = useLiveExecutions(filter, page)
  const key = JSON.stringify([filter, page])
  const isFiltered = FILTERS.some((name) => filter[name])
  const { error } = answer
  const refusal = error && isForbidden(error) ? problemOf(error).text : undefined
  return (
    <Page
      title="Executions"
      aside={
        answer.data && (
          <>
            <span class="count">{totalOf(answer.data)}</span>
            <LiveMark isLive={answer.isLive} />
          </>
        )
      }
      actions={<ExportMenu {...{ filter, refusal }} />}
    >
      <ExecutionFilters query={query}>
        <SavedViews screen={PATH} query={query} />
      </ExecutionFilters>
      <Overview query={query} />
      {query.get('counts') === '1' && <Facets filter={filter} query={query} />}
      {isFiltered && (
        <BulkPanel
          key={JSON.stringify(filter)}
          {...{ filter, refusal }}
          example={answer.rows[0]?.execution_id}
          running={query.get('bulk') ?? undefined}
          onDone={answer.refresh}
        />
      )}
      <Loaded answer={answer} lines={12}>
        {() => (
          <List
            key={key}
            name={key}
            {...{ answer, query, filter, isFiltered, isFirst: offset === 0 }}
          />
        )}
      </Loaded>
      {answer.skipped > 0 && (
        <p class="stale">
          {count(answer.skipped)} changes were too many to follow one by one: the list is read again
          every few seconds meanwhile.
        </p>
      )}
      {answer.data?.cut && (
        <p class="stale">The search ended at its bound: narrow it with a workflow or a time.</p>
      )}
      {answer.data && (
        <Pager
          {...answer.data}
          shown={answer.data.executions.length}
          isExact={answer.data.total_exact ?? true}
          to={(row) => changed(PATH, query, { offset: row })}
        />
      )}
    </Page>
  )
}

/** A count that is not exact says so. */
const totalOf = ({ total, total_exact = true }: ExecutionPage) =>
  `${total_exact ? '' : 'more than '}${count(total)}`

interface ListProps {
  name: string
  answer: LiveExecutions
  filter: Query
  query: URLSearchParams
  isFiltered: boolean
  isFirst: boolean
}

function List({ name, answer, query, filter, isFiltered, isFirst }: ListProps) {
  // On later pages rows move when others arrive; on the first one new rows wait to be shown.
  const { update, refresh } = answer
  const options = { holds: isFirst, idOf, update, name }
  const { rows, waiting, show, returned, take } = useHeldRows(answer.rows, options)
  useRowsAgain(returned, filter, take)
  // With each filter and page, not with each change of the rows.
  useEffect(() => {
    if (answer.data) announce(`${totalOf(answer.data)} executions`)
  }, [])
  if (rows.length === 0) return <NoRows isFiltered={isFiltered} />
  const chosen = new Set(query.get('selected')?.split(',') ?? [])
  const choose = (ids: readonly string[], isChosen: boolean) => {
    // The address as it is now: a row is not rendered again for each change of the selection.
    const now = new URLSearchParams(window.location.search)
    const selected = new Set(now.get('selected')?.split(',') ?? [])
    for (const id of ids) isChosen ? selected.add(id) : selected.delete(id)
    navigate(changed(PATH, now, { selected: [...selected].join(',') }), { replace: true })
  }
  const selected = rows.filter(({ execution_id }) => chosen.has(execution_id))
  return (
    <div class="held-rows">
      {selected.length > 0 && (
        <SelectionPanel
          rows={selected}
          onClear={() => navigate(changed(PATH, query, { selected: undefined }))}
          onDone={refresh}
        />
      )}
      <NewRows onShow={show}>
        {waiting > 0 && `${waiting === answer.data?.limit ? `${waiting} or more` : waiting} new`}
      </NewRows>
      <ExecutionTable rows={rows} selection={{ chosen, onChoose: choose }} />
    </div>
  )
}

/** How the list is kept up to date. */
const LiveMark = ({ isLive }: { isLive: boolean }) => (
  <span
    class="live-mark"
    title={
      isLive
        ? 'Changes appear as they happen.'
        : 'There is no stream of changes now: the list is read every 2 seconds.'
    }
  >
    {isLive ? 'live' : 'read every 2 s'}
  </span>
)

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
        Upload a workflow in <Link to="workflows">Workflows</Link> and run it. From a terminal:{' '}
        <code>
          curl -F file=@examples/hello_world.py {new URL('..', document.baseURI).href}workflows
        </code>
      </p>
    </Empty>
  )
}
