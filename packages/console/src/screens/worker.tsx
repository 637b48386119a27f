import type { ComponentChildren } from 'preact'
import { idOf, listWorkerExecutions } from '../api/executions.ts'
import { readHistory } from '../api/stats.ts'
import { useQuery } from '../api/use-query.ts'
import { getWorker, slotsOf, type WorkerRow } from '../api/workers.ts'
import { bytes, count, millis } from '../format/time.ts'
import { Charts } from '../home/charts.tsx'
import { lists } from '../live/feed.ts'
import { useLiveExecutions } from '../live/use-live-executions.ts'
import { address } from '../location/address.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { ExecutionTable } from '../ui/execution-table.tsx'
import { Facts } from '../ui/facts.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { LatestRows } from '../ui/latest-rows.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Page } from '../ui/page.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { Ago } from '../ui/times.tsx'

const EVERY_MS = 3_000

/** One worker: what it has, what it holds, what is installed on it. */
export function WorkerScreen({ rest: [name = ''] }: ScreenProps) {
  const answer = useQuery(`worker ${name}`, (signal) => getWorker(name, signal), {
    every: EVERY_MS,
    live: lists.workers,
  })
  return (
    <Page title={name} aside={answer.data && <StatusBadge status={answer.data.status} />}>
      <Loaded answer={answer}>{(worker) => <Detail worker={worker} />}</Loaded>
      <Charts
        key={name}
        name={`of worker ${name}`}
        load={(range, ...read) => readHistory(name, range, ...read)}
      />
      <WorkerExecutions key={name} name={name} />
    </Page>
  )
}

function Detail({ worker }: { worker: WorkerRow }) {
  const now = useNow()
  const { runtime, resources, packages, labels, runners, last_seen_at } = worker
  const { used, most } = slotsOf(worker)
  const facts: [string, ComponentChildren][] = [
    ['Holds', used === undefined ? '–' : `${used} of ${most ?? 'any number'}`],
    ['Last seen', <Ago key="seen" at={millis(last_seen_at)} now={now} />],
    ['System', runtime ? `${runtime.os_name} ${runtime.os_version}` : '–'],
    ['Python', runtime?.python_version ?? '–'],
    ['Processors', resources?.cpu_total ?? '–'],
    ['Free memory', resources ? bytes(resources.memory_available) : '–'],
    ['Free disk', resources ? bytes(resources.disk_free) : '–'],
    ['GPUs', resources?.gpus.map((gpu) => gpu.name).join(', ') || 'none'],
    ['Runners', runners?.join(', ') || '–'],
  ]
  const named = Object.entries(labels)
  return (
    <>
      <Facts facts={facts} />
      <section class="card" aria-label="Labels">
        <h2>Labels</h2>
        {named.length === 0 && <p class="faint">none</p>}
        <ul class="chips">
          {named.map(([label, value]) => (
            <li key={label} class="chip mono">
              {label}={value}
            </li>
          ))}
        </ul>
      </section>
      <section class="card" aria-label="Packages">
        <h2>Packages ({packages.length})</h2>
        <ul class="columns mono">
          {packages.map(({ name, version }) => (
            <li key={name}>
              {name} <span class="faint">{version}</span>
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}

const SHOWN = 20

/** What the worker holds, and what it was the last to hold. */
function WorkerExecutions({ name }: { name: string }) {
  const page = { limit: String(SHOWN) }
  const answer = useLiveExecutions({ worker_name: name }, page, {
    name: 'executions of worker',
    load: (_, ...read) => listWorkerExecutions(name, page, ...read),
  })
  const { rows: latest, update } = answer
  return (
    <section class="page-body" aria-label="Executions of the worker">
      <h2>What it holds, and held last</h2>
      <Loaded answer={answer} lines={3}>
        {({ total, total_exact = true }) =>
          latest.length === 0 ? (
            <Empty title="It has held no execution that you may see" />
          ) : (
            <>
              <LatestRows rows={latest} idOf={idOf} update={update}>
                {(rows) => <ExecutionTable rows={rows} />}
              </LatestRows>
              {total > latest.length && (
                <p>
                  <Link to={address('executions', { worker_name: name })}>
                    {total_exact ? '' : 'more than '}
                    {count(total)} in all
                  </Link>
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </section>
  )
}
