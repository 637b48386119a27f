import { type ExecutionPage, type ExecutionRow, listExecutions } from '../api/executions.ts'
import { useQuery } from '../api/use-query.ts'
import { hasEnded } from '../format/states.ts'
import { count, millis } from '../format/time.ts'
import { changed, executionAddress, wholeOf, workflowAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Page } from '../ui/page.tsx'
import { StateBadge } from '../ui/state-badge.tsx'
import { Ago, Took } from '../ui/times.tsx'
import { ExecutionFilters } from './execution-filters.tsx'
import { useHeldRows } from './held-rows.ts'

const PATH = 'executions'
const PAGE = 50
const EVERY_MS = 2_000

const FILTERS = ['state', 'namespace', 'workflow_name'] as const

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
      aside={answer.data && <span class="count">{count(answer.data.total)}</span>}
    >
      <ExecutionFilters query={query} />
      <Loaded answer={answer} lines={12}>
        {(page) => <List key={key} page={page} isFiltered={isFiltered} />}
      </Loaded>
      {answer.data && <Pager query={query} page={answer.data} />}
    </Page>
  )
}

function List({ page, isFiltered }: { page: ExecutionPage; isFiltered: boolean }) {
  const now = useNow()
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
      <div class="table-frame">
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Workflow</th>
              <th scope="col">Execution</th>
              <th scope="col">Created</th>
              <th scope="col">Took</th>
              <th scope="col">Worker</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.execution_id} row={row} now={now} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function Row({ row, now }: { row: ExecutionRow; now: number }) {
  const { execution_id, workflow_namespace, workflow_name, state, worker_name } = row
  const created = millis(row.created_at)
  const isOpen = !hasEnded(state)
  const end = isOpen ? now : millis(row.updated_at)
  const took = created === undefined || end === undefined ? undefined : Math.max(0, end - created)
  const to = executionAddress(execution_id)
  const open = (event: MouseEvent) => {
    const isOwn = event.target instanceof Element && event.target.closest('a, button') !== null
    if (!isOwn && document.getSelection()?.isCollapsed) navigate(to)
  }
  return (
    <tr onClick={open}>
      <td>
        <StateBadge state={state} />
      </td>
      <td class="wide">
        <Link to={workflowAddress(workflow_namespace, workflow_name)} class="name">
          <span class="faint">{workflow_namespace}/</span>
          <bdi>{workflow_name}</bdi>
        </Link>
      </td>
      <td>
        <Link to={to} class="mono" title={execution_id}>
          {execution_id.slice(0, 8)}…{execution_id.slice(-6)}
        </Link>
      </td>
      <td class="num">
        <Ago at={created} now={now} />
      </td>
      <td class="num">
        <Took ms={took} isOpen={isOpen} />
      </td>
      <td class="mono faint">{worker_name || '–'}</td>
    </tr>
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
  const { offset, limit, total, executions } = page
  if (offset === 0 && total <= limit) return null
  const at = (to: number) => changed(PATH, query, { offset: to > 0 ? to : undefined })
  return (
    <nav class="pager" aria-label="Pages">
      <span class="num">
        {count(Math.min(offset + 1, total))}–{count(offset + executions.length)} of {count(total)}
      </span>
      <button type="button" disabled={offset === 0} onClick={() => navigate(at(offset - limit))}>
        <Icon name="left" /> Newer
      </button>
      <button
        type="button"
        disabled={offset + limit >= total}
        onClick={() => navigate(at(offset + limit))}
      >
        Older <Icon name="right" />
      </button>
    </nav>
  )
}
