import { listApprovals } from '../api/approvals.ts'
import { listExecutions } from '../api/executions.ts'
import { type QueueRow, readQueue } from '../api/queue.ts'
import { listSchedules } from '../api/schedules.ts'
import { readStats } from '../api/stats.ts'
import { useQuery } from '../api/use-query.ts'
import { listWorkers } from '../api/workers.ts'
import { listWorkflows } from '../api/workflows.ts'
import { count } from '../format/time.ts'
import { Charts } from '../home/charts.tsx'
import { Demo } from '../home/demo.tsx'
import { lists, queueChanges } from '../live/feed.ts'
import { address, startAddress } from '../location/address.ts'
import { ApprovalList } from '../ui/approval-list.tsx'
import { ExecutionTable } from '../ui/execution-table.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'

const EVERY_MS = 3_000
const SLOW_MS = 10_000
const RECENT = 8
const SHOWN_APPROVALS = 3

const useCount = (state: string) =>
  useQuery(
    `count ${state}`,
    async (signal) => (await listExecutions({ state, limit: '1' }, signal)).total,
    { every: EVERY_MS, live: lists.executions },
  )

/** What runs, what waits, what failed, and what needs a person. */
export function HomeScreen() {
  const recent = useQuery('recent', (signal) => listExecutions({ limit: String(RECENT) }, signal), {
    every: EVERY_MS,
    live: lists.executions,
  })
  return (
    <Page title="Home">
      <Tiles />
      {recent.data?.total === 0 && <FirstSteps />}
      <Demo />
      <NeedsPerson />
      {recent.data !== undefined && recent.data.total !== 0 && (
        <Charts name="of all" load={(range, signal) => readStats(range, {}, signal)} />
      )}
      {recent.data?.total !== 0 && (
        <section class="page-body" aria-label="Latest executions">
          <h2>Latest executions</h2>
          <Loaded answer={recent}>
            {({ executions }) => <ExecutionTable rows={executions} />}
          </Loaded>
        </section>
      )}
    </Page>
  )
}

function Tiles() {
  const running = useCount('RUNNING')
  const queued = useCount('SCHEDULED')
  const paused = useCount('PAUSED')
  const failed = useCount('FAILED')
  const workers = useQuery('workers', listWorkers, { every: EVERY_MS, live: lists.workers })
  const online = workers.data?.filter(({ status }) => status === 'online').length
  const states = [
    ['Running', 'RUNNING', running, 'run'],
    ['Queued', 'SCHEDULED', queued, 'wait'],
    ['Paused', 'PAUSED', paused, 'pause'],
    ['Failed', 'FAILED', failed, 'bad'],
  ] as const
  return (
    <ul class="tiles">
      {states.map(([label, state, { data }, tone]) => (
        <li key={state}>
          <Link to={address('executions', { state })} class={`tile tone-${data ? tone : 'off'}`}>
            <span>{label}</span>
            <strong>{data === undefined ? '–' : count(data)}</strong>
          </Link>
        </li>
      ))}
      <li>
        <Link to="workers" class={`tile tone-${online === 0 ? 'bad' : 'off'}`}>
          <span>Workers online</span>
          <strong>{online ?? '–'}</strong>
        </Link>
      </li>
    </ul>
  )
}

/** Executions that wait although no connected worker can run them. */
function Stuck({ queues }: { queues: readonly QueueRow[] }) {
  const total = queues.reduce((sum, { depth }) => sum + depth, 0)
  const isExact = queues.every((one) => one.depth_exact)
  return (
    <p>
      <Link to="queue">
        {isExact ? '' : 'More than '}
        {count(total)} queued {total === 1 ? 'execution' : 'executions'}
      </Link>
      : no connected worker can run {total === 1 ? 'it' : 'them'}
    </p>
  )
}

/** Approvals that wait, executions that no worker can run and schedules that fail; nothing at all if there is nothing to do. */
function NeedsPerson() {
  const waiting = useQuery(
    'approvals pending',
    (signal) => listApprovals({ status: 'pending', limit: '100' }, signal),
    { every: EVERY_MS, live: lists.approvals },
  )
  const schedules = useQuery('schedules', listSchedules, {
    every: SLOW_MS,
    live: lists.schedules,
  })
  const approvals = waiting.data?.approvals ?? []
  const failing = schedules.data?.filter((one) => one.failure_count > 0) ?? []
  const queue = useQuery('queue', readQueue, { every: SLOW_MS, live: queueChanges })
  const stuck = queue.data?.queues.filter(({ workers }) => workers.length === 0) ?? []
  if (approvals.length + failing.length + stuck.length === 0) return null
  return (
    <section class="page-body" aria-label="What needs a person">
      <h2>What needs a person</h2>
      <ApprovalList approvals={approvals.slice(0, SHOWN_APPROVALS)} onDecided={waiting.refresh} />
      {approvals.length > SHOWN_APPROVALS && (
        <Link to="approvals">All {approvals.length} approvals</Link>
      )}
      {stuck.length > 0 && <Stuck queues={stuck} />}
      {failing.map(({ id, name, failure_count }) => (
        <p key={id}>
          <Link to="schedules">{name}</Link>: {failure_count} of its runs failed
        </p>
      ))}
    </section>
  )
}

/** The three steps to a first run; each is marked when it is done. */
function FirstSteps() {
  const workers = useQuery('workers', listWorkers, { every: EVERY_MS, live: lists.workers })
  const workflows = useQuery('workflows', listWorkflows, { every: EVERY_MS })
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
