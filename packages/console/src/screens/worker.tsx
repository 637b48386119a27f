import { useQuery } from '../api/use-query.ts'
import { getWorker, slotsOf, type WorkerRow } from '../api/workers.ts'
import { bytes, millis } from '../format/time.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { useNow } from '../ui/now.ts'
import { Page } from '../ui/page.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { Ago } from '../ui/times.tsx'

const EVERY_MS = 3_000

/** One worker: what it has, what it holds, what is installed on it. */
export function WorkerScreen({ rest: [name = ''] }: ScreenProps) {
  const answer = useQuery(`worker ${name}`, (signal) => getWorker(name, signal), {
    every: EVERY_MS,
  })
  return (
    <Page title={name} aside={answer.data && <StatusBadge status={answer.data.status} />}>
      <Loaded answer={answer}>{(worker) => <Detail worker={worker} />}</Loaded>
    </Page>
  )
}

function Detail({ worker }: { worker: WorkerRow }) {
  const now = useNow()
  const { runtime, resources, packages, labels, runners, last_seen_at } = worker
  const { used, most } = slotsOf(worker)
  const facts: [string, preact.ComponentChildren][] = [
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
      <dl class="card facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
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
