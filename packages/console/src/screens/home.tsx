import { idOf } from '../api/executions.ts'
import { COUNTS } from '../api/intervals.ts'
import { readStats } from '../api/stats.ts'
import { useQuery } from '../api/use-query.ts'
import { listWorkers } from '../api/workers.ts'
import { listWorkflows } from '../api/workflows.ts'
import { Charts } from '../home/charts.tsx'
import { Demo } from '../home/demo.tsx'
import { NeedsPerson } from '../home/needs-person.tsx'
import { Tiles } from '../home/tiles.tsx'
import { useQueue, useTotal } from '../home/use-counts.ts'
import { lists } from '../live/feed.ts'
import { useLiveExecutions } from '../live/use-live-executions.ts'
import { startAddress } from '../location/address.ts'
import { ExecutionTable } from '../ui/execution-table.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { LatestRows } from '../ui/latest-rows.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'

const RECENT = 8

/** What runs, what waits, what failed, and what needs a person. */
export function HomeScreen() {
  const recent = useLiveExecutions({}, { limit: String(RECENT) })
  const isUnused = recent.data !== undefined && recent.rows.length === 0
  const paused = useTotal('PAUSED').data
  const queue = useQueue().data
  return (
    <Page title="Home">
      <Tiles paused={paused} queue={queue} />
      {isUnused && <FirstSteps />}
      <Demo />
      <NeedsPerson paused={paused} queue={queue} />
      {recent.data !== undefined && !isUnused && (
        <Charts name="of all" load={(range, ...read) => readStats(range, {}, ...read)} />
      )}
      {!isUnused && (
        <section class="page-body" aria-label="Latest executions">
          <h2>Latest executions</h2>
          <Loaded answer={recent}>
            {() => (
              <LatestRows rows={recent.rows} idOf={idOf} update={recent.update}>
                {(rows) => <ExecutionTable rows={rows} />}
              </LatestRows>
            )}
          </Loaded>
        </section>
      )}
    </Page>
  )
}

/** The three steps to a first run; each is marked when it is done. */
function FirstSteps() {
  const workers = useQuery('workers', listWorkers, { ...COUNTS, live: lists.workers })
  const workflows = useQuery('workflows', listWorkflows, COUNTS)
  const [first] = workflows.data ?? []
  const isOnline = workers.data?.some(({ status }) => status === 'online') ?? false
  return (
    <section class="card" aria-label="First steps">
      <h2>Three steps to the first run</h2>
      <ol class="steps">
        <Step isDone={isOnline}>
          <Link to="workers">Connect a worker</Link>, which runs your code
        </Step>
        <Step isDone={first !== undefined}>
          <Link to="workflows">Upload a Python file</Link> with a workflow, such as{' '}
          <code>examples/hello_world.py</code>
        </Step>
        <Step isDone={false}>
          {first ? <Link to={startAddress(first.namespace, first.name)}>Run it</Link> : 'Run it'}{' '}
          and watch its timeline
        </Step>
      </ol>
    </section>
  )
}

const Step = ({ isDone, children }: { isDone: boolean; children: preact.ComponentChildren }) => (
  <li class={isDone ? 'done' : undefined}>
    {isDone && <Icon name="check" />}
    <span>
      {children}
      {isDone && <span class="visually-hidden"> (done)</span>}
    </span>
  </li>
)
