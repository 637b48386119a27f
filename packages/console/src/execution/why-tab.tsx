import { read } from '../api/server.ts'
import { useQuery } from '../api/use-query.ts'
import { hasEnded } from '../format/states.ts'
import { millis } from '../format/time.ts'
import { address, workerAddress } from '../location/address.ts'
import { Loaded } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Clock } from '../ui/times.tsx'
import { QueuePlace, WhyMatrix } from './why-matrix.tsx'
import { matrixOf, type WorkerPlace } from './why-view.ts'

/** The answer of `GET /executions/{id}/explain`. */
interface Explanation {
  reason: string
  queue_position: number | null
  queued_at: string | null
  deadline_at: string | null
  suggestion: string | null
  /** Every part of the requirement in words; absent in the answer of an earlier release. */
  needs?: string[]
  workers: WorkerPlace[]
  other_workers: number
  requirement: { packages: string[]; affinity: Record<string, string> } & Record<string, unknown>
}

const EVERY_MS = 3_000
/** Columns of the picture; the table has all workers. */
const MAX_COLUMNS = 8

/** Why an execution does not run, what each worker lacks, and the smallest change that helps. */
export function WhyTab({ id, state }: { id: string; state: string }) {
  const answer = useQuery(
    `why ${id}`,
    (signal) => read<Explanation>(`/executions/${id}/explain`, {}, signal),
    { every: hasEnded(state) ? undefined : EVERY_MS },
  )
  return (
    <Loaded answer={answer}>{(why) => <Explained why={why} isOver={hasEnded(state)} />}</Loaded>
  )
}

function Explained({ why, isOver }: { why: Explanation; isOver: boolean }) {
  const now = useNow()
  const needs = needsOf(why.requirement)
  return (
    <div class="page-body">
      <section class="card" aria-label="Reason">
        <p class="why">{sentence(why.reason)}</p>
        {why.suggestion && (
          <p class="why-change">
            <Icon name="right" /> What would help: {why.suggestion}
          </p>
        )}
        {why.queued_at && (
          <p class="faint">
            In the queue since <Clock at={millis(why.queued_at)} now={now} />
            {why.queue_position !== null && `, number ${why.queue_position}`}.{' '}
            <Link to={address('queue')}>The queue</Link>
          </p>
        )}
        {why.queue_position !== null && <QueuePlace position={why.queue_position} />}
      </section>
      <section class="card" aria-label="Needs">
        <h2>What it needs</h2>
        {needs.length === 0 ? (
          <p class="faint">Any worker that serves its namespace.</p>
        ) : (
          <ul>
            {needs.map((need) => (
              <li key={need}>{need}</li>
            ))}
          </ul>
        )}
      </section>
      {why.needs && why.workers.length > 0 && (
        <WhyMatrix view={matrixOf(why.needs, why.workers, MAX_COLUMNS)} isOver={isOver} />
      )}
      {why.workers.length > 0 &&
        (why.needs ? (
          <details class="card">
            <summary aria-label="As a table: workers">As a table</summary>
            <Places why={why} isOver={isOver} />
          </details>
        ) : (
          <Places why={why} isOver={isOver} />
        ))}
      {why.other_workers > 0 && (
        <p class="faint">{why.other_workers} more workers serve other namespaces only.</p>
      )}
    </div>
  )
}

const Places = ({ why, isOver }: { why: Explanation; isOver: boolean }) => (
  <div class="table-frame">
    <table class="rows" aria-label="Workers">
      <thead>
        <tr>
          <th scope="col">Worker</th>
          <th scope="col">Status</th>
          <th scope="col">Holds</th>
          <th scope="col">{isOver ? 'Can it run it again?' : 'Can it run it?'}</th>
        </tr>
      </thead>
      <tbody>
        {why.workers.map(({ name, status, eligible, unmet, used, capacity }) => (
          <tr key={name}>
            <th scope="row">
              <Link to={workerAddress(name)}>{name}</Link>
            </th>
            <td>{status}</td>
            <td class="num">
              {used} of {capacity ?? 'any number'}
            </td>
            <td>
              {unmet ? `${eligible ? 'Yes, but it lacks' : 'No, it lacks'} ${unmet}` : 'Yes, now'}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** A requirement in words. */
function needsOf({ packages, affinity, ...amounts }: Explanation['requirement']): string[] {
  const sizes = Object.entries(amounts).filter(([, value]) => value !== null)
  return [
    ...sizes.map(([name, value]) => `${name}: ${String(value)}`),
    ...packages.map((name) => `package ${name}`),
    ...Object.entries(affinity).map(([label, value]) => `label ${label} = ${value}`),
  ]
}
