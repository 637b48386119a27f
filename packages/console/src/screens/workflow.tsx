import { idOf } from '../api/executions.ts'
import { useQuery } from '../api/use-query.ts'
import { getWorkflow, listVersions, sourceOf, type Workflow } from '../api/workflows.ts'
import { count } from '../format/time.ts'
import { useLiveExecutions } from '../live/use-live-executions.ts'
import { address, startAddress, wholeOf, workflowAddress } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { lazy } from '../shell/lazy.tsx'
import { ExecutionTable } from '../ui/execution-table.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { JsonView } from '../ui/json-view.tsx'
import { LatestRows } from '../ui/latest-rows.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { SourceView } from '../ui/source-view.tsx'
import { Tabs } from '../ui/tabs.tsx'

const TABS = [
  { name: 'executions', label: 'Executions' },
  { name: 'statistics', label: 'Statistics' },
  { name: 'changes', label: 'Changes' },
  { name: 'source', label: 'Source' },
  { name: 'declared', label: 'Declared' },
  { name: 'uses', label: 'Uses' },
]

/** One workflow: its versions, its executions, its source, and what it declares. */
export function WorkflowScreen({
  rest: [namespace = '', name = ''],
  place: { query },
}: ScreenProps) {
  const version = query.get('version') ?? undefined
  const tab = query.get('tab') ?? 'executions'
  const answer = useQuery(`workflow ${namespace}/${name}@${version ?? ''}`, (signal) =>
    getWorkflow({ namespace, name, version }, signal),
  )
  return (
    <Page
      title={name}
      aside={<span class="faint">{namespace}</span>}
      actions={
        <Link to={startAddress(namespace, name, { version })} class="button primary">
          <Icon name="play" /> Run
        </Link>
      }
    >
      <Loaded answer={answer}>
        {(workflow) => (
          <>
            <Versions workflow={workflow} tab={tab} />
            <Tabs
              label="Parts of the workflow"
              tabs={TABS}
              current={tab}
              to={(one) => workflowAddress(namespace, name, { tab: one, version })}
            />
            <Content {...{ workflow, tab, query }} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Versions({
  workflow: { namespace, name, version },
  tab,
}: {
  workflow: Workflow
  tab: string
}) {
  const { data } = useQuery(`versions ${namespace}/${name}`, (signal) =>
    listVersions(namespace, name, signal),
  )
  return (
    <label class="text-filter">
      <span>Version</span>
      <select
        value={version}
        onChange={(event) =>
          navigate(workflowAddress(namespace, name, { tab, version: event.currentTarget.value }))
        }
      >
        {(data ?? [{ version }]).map((one, i) => (
          <option key={one.version} value={one.version}>
            {one.version}
            {i === 0 ? ' (latest)' : ''}
          </option>
        ))}
      </select>
    </label>
  )
}

const ChangesTab = lazy(async () => (await import('../workflow/changes-tab.tsx')).ChangesTab)
const UsesTab = lazy(async () => (await import('../workflow/uses-tab.tsx')).UsesTab)
const VersionStatistics = lazy(
  async () => (await import('../workflow/version-statistics.tsx')).VersionStatistics,
)

interface ContentProps {
  workflow: Workflow
  tab: string
  query: URLSearchParams
}

function Content({ workflow, tab, query }: ContentProps) {
  if (tab === 'statistics') return <VersionStatistics workflow={workflow} query={query} />
  if (tab === 'changes') return <ChangesTab workflow={workflow} query={query} />
  if (tab === 'uses') return <UsesTab workflow={workflow} />
  if (tab === 'source')
    return <SourceView source={sourceOf(workflow)} line={wholeOf(query.get('line'), 0)} />
  if (tab === 'declared') return <Declared workflow={workflow} />
  return <Recent workflow={workflow} />
}

const RECENT = 20

function Recent({ workflow: { namespace, name } }: { workflow: Workflow }) {
  const filter = { namespace, workflow_name: name }
  const answer = useLiveExecutions(filter, { limit: String(RECENT) })
  const { rows: latest, update } = answer
  return (
    <Loaded answer={answer}>
      {({ total }) =>
        latest.length === 0 ? (
          <Empty title="It has not run yet">
            <p>
              <Link to={startAddress(namespace, name)}>Run it</Link>
            </p>
          </Empty>
        ) : (
          <>
            <LatestRows key={`${namespace}/${name}`} rows={latest} idOf={idOf} update={update}>
              {(rows) => <ExecutionTable rows={rows} />}
            </LatestRows>
            {total > latest.length && (
              <Link to={address('executions', filter)}>All {count(total)} executions</Link>
            )}
          </>
        )
      }
    </Loaded>
  )
}

function Declared({ workflow: { metadata, requests, affinity, imports } }: { workflow: Workflow }) {
  const { input_schema, task_names = [], nested_workflows = [], ...rest } = metadata
  const lists: [string, string[]][] = [
    ['Tasks', task_names],
    ['Workflows that it runs', nested_workflows.map((names) => names.join('/'))],
    ['Secrets', rest.secret_requests ?? []],
    ['Permissions that it requires', rest.required_permissions ?? []],
    ['Tags of its executions', Object.entries(rest.tags ?? {}).map((tag) => tag.join('='))],
    ['Imports', imports],
  ]
  return (
    <div class="page-body">
      <dl class="card facts">
        {lists.map(([label, names]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{names.length === 0 ? 'none' : names.join(', ')}</dd>
          </div>
        ))}
      </dl>
      {input_schema && <JsonView title="Schema of the input" text={JSON.stringify(input_schema)} />}
      <JsonView title="What it asks of a worker" text={JSON.stringify({ ...requests, affinity })} />
    </div>
  )
}
