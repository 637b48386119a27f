import { useQuery } from '../api/use-query.ts'
import { listWorkers, slotsOf, type WorkerRow } from '../api/workers.ts'
import { bytes, millis } from '../format/time.ts'
import { lists } from '../live/feed.ts'
import { workerAddress } from '../location/address.ts'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Page } from '../ui/page.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { Ago } from '../ui/times.tsx'
import { NewWorker } from '../workers/new-worker.tsx'

const EVERY_MS = 3_000

/** All workers that the caller may see, with what they hold and what they have. */
export function WorkersScreen() {
  const answer = useQuery('workers', listWorkers, { every: EVERY_MS, live: lists.workers })
  const online = answer.data?.filter(({ status }) => status === 'online').length
  return (
    <Page title="Workers" aside={answer.data && <span class="count">{online} online</span>}>
      <Loaded answer={answer}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No worker has connected yet">
              <p>The command below starts one.</p>
            </Empty>
          ) : (
            <Rows rows={rows} />
          )
        }
      </Loaded>
      <NewWorker />
    </Page>
  )
}

function Rows({ rows }: { rows: readonly WorkerRow[] }) {
  const now = useNow()
  return (
    <div class="table-frame">
      <table class="rows" aria-label="Workers">
        <thead>
          <tr>
            <th scope="col">Worker</th>
            <th scope="col">Status</th>
            <th scope="col">Holds</th>
            <th scope="col">Processors</th>
            <th scope="col">Free memory</th>
            <th scope="col">Python</th>
            <th scope="col">Last seen</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((worker) => (
            <tr key={worker.name}>
              <th scope="row">
                <Link to={workerAddress(worker.name)} class="name">
                  {worker.name}
                </Link>
              </th>
              <td>
                <StatusBadge status={worker.status} />
              </td>
              <td>
                <Slots worker={worker} />
              </td>
              <td class="num">{worker.resources?.cpu_total ?? '–'}</td>
              <td class="num">
                {worker.resources
                  ? `${bytes(worker.resources.memory_available)} of ${bytes(worker.resources.memory_total)}`
                  : '–'}
              </td>
              <td class="num">{worker.runtime?.python_version ?? '–'}</td>
              <td class="num">
                <Ago at={millis(worker.last_seen_at)} now={now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Slots({ worker }: { worker: WorkerRow }) {
  const { used, most } = slotsOf(worker)
  if (used === undefined) return <span class="faint">–</span>
  return (
    <span class="slots">
      {most !== undefined && (
        <meter min={0} max={most} value={used} aria-label={`Slots in use of ${worker.name}`} />
      )}
      <span class="num">
        {used} of {most ?? 'any number'}
      </span>
    </span>
  )
}
