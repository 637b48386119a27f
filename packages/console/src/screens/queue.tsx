import { type QueueRow, readQueue } from '../api/queue.ts'
import { useQuery } from '../api/use-query.ts'
import { count, millis } from '../format/time.ts'
import { queueChanges } from '../live/feed.ts'
import { address, workerAddress } from '../location/address.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Since } from '../ui/running-times.tsx'

const EVERY_MS = 3_000
/** Rates of the last minute change without an event. */
const MOVES_MS = 60_000
/** Workers that are named in a row. */
const MAX_NAMED = 5

/** Executions that wait for a worker, by what they need, with the workers that could run them. */
export function QueueScreen() {
  const answer = useQuery('queue', readQueue, {
    every: EVERY_MS,
    everyWhileLive: MOVES_MS,
    live: queueChanges,
  })
  return (
    <Page
      title="Queue"
      aside={answer.data && <span class="count">{totalOf(answer.data.queues)} waiting</span>}
      actions={
        <Link to={address('executions', { state: 'SCHEDULED' })} class="button">
          <Icon name="list" /> Queued executions
        </Link>
      }
    >
      <Loaded answer={answer}>
        {({ queues, cut }) =>
          queues.length === 0 ? (
            <Empty title="Nothing waits for a worker">
              <p>Executions that no worker has taken yet are listed here by what they need.</p>
            </Empty>
          ) : (
            <>
              <Rows queues={queues} />
              {cut && <p class="stale">The list is cut: there are more needs than are listed.</p>}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

function totalOf(queues: readonly QueueRow[]): string {
  const isExact = queues.every((one) => one.depth_exact)
  const total = queues.reduce((sum, { depth }) => sum + depth, 0)
  return `${isExact ? '' : 'more than '}${count(total)}`
}

const NUMBERS = ['Waiting', 'Oldest', 'New a minute', 'Started a minute']
const HEADS = ['Needs', ...NUMBERS, 'Workers']

const Rows = ({ queues }: { queues: readonly QueueRow[] }) => (
  <DataTable label="Queue" heads={HEADS} right={NUMBERS}>
    {queues.map((queue) => {
      const oldest = millis(queue.oldest)
      return (
        <tr key={queue.requirement_id}>
          <th scope="row">
            <Needs requirement={queue.requirement} />
          </th>
          <td class="num right">
            {queue.depth_exact ? '' : 'more than '}
            {count(queue.depth)}
          </td>
          <td class="num right">{oldest === undefined ? '–' : <Since at={oldest} />}</td>
          <td class="num right">{count(queue.rates.created_per_minute)}</td>
          <td class="num right">{count(queue.rates.started_per_minute)}</td>
          <td>
            <Workers workers={queue.workers} />
          </td>
        </tr>
      )
    })}
  </DataTable>
)

function Needs({ requirement }: Pick<QueueRow, 'requirement'>) {
  const { packages, affinity, runner, namespace } = requirement
  const needs = [
    ...(namespace ? [`namespace ${namespace}`] : []),
    ...(runner ? [`runner ${runner}`] : []),
    ...packages.map((name) => `package ${name}`),
    ...Object.entries(affinity).map(([label, value]) => `label ${label} = ${value}`),
  ]
  if (needs.length === 0) return <span class="faint">any worker</span>
  return (
    <ul>
      {needs.map((need) => (
        <li key={need}>
          <bdi>{need}</bdi>
        </li>
      ))}
    </ul>
  )
}

function Workers({ workers }: Pick<QueueRow, 'workers'>) {
  if (workers.length === 0)
    return (
      <span class="tone-bad">
        <Icon name="warning" /> No connected worker can run them
      </span>
    )
  return (
    <ul>
      {workers.slice(0, MAX_NAMED).map(({ name, used, capacity }) => (
        <li key={name}>
          <Link to={workerAddress(name)}>{name}</Link>{' '}
          <span class="num faint">
            {used} of {capacity ?? 'any number'}
          </span>
        </li>
      ))}
      {workers.length > MAX_NAMED && (
        <li class="faint">and {count(workers.length - MAX_NAMED)} more</li>
      )}
    </ul>
  )
}
