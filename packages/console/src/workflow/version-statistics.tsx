import { readStats, recently, type Stats } from '../api/stats.ts'
import { useQuery } from '../api/use-query.ts'
import type { Workflow } from '../api/workflows.ts'
import { count, duration } from '../format/time.ts'
import { lists } from '../live/feed.ts'
import { address, workflowAddress } from '../location/address.ts'
import { LENGTHS } from '../overview/range.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'

const EVERY_MS = 15_000
/** A range up to now moves without an event. */
const MOVES_MS = 60_000
const TIMES = ['Waited p50', 'Waited p95', 'Ran p50', 'Ran p95', 'Ran p99']
const NUMBERS = ['Created', 'Ended', 'Failed', ...TIMES]

interface Props {
  workflow: Workflow
  query: URLSearchParams
}

/** Executions of each version in a time up to now: how many, and how long they waited and ran. */
export function VersionStatistics({ workflow: { namespace, name }, query }: Props) {
  const [length, seconds] = LENGTHS.find(([one]) => one === query.get('range')) ?? ['24h', 86_400]
  const filter = { group: 'version', namespace, workflow_name: name }
  const answer = useQuery(
    `versions in ${length} ${namespace}/${name}`,
    (...read) => readStats(recently(seconds, seconds), filter, ...read),
    { every: EVERY_MS, everyWhileLive: MOVES_MS, live: lists.executions },
  )
  return (
    <>
      <nav class="chips" aria-label="Time">
        {LENGTHS.map(([one]) => (
          <Link
            key={one}
            to={workflowAddress(namespace, name, { tab: 'statistics', range: one })}
            class="chip"
            aria-current={one === length ? 'true' : undefined}
          >
            {one}
          </Link>
        ))}
      </nav>
      <Loaded answer={answer} lines={3}>
        {(stats) =>
          stats.buckets.length === 0 ? (
            <Empty title={`It has not run in ${length}`} />
          ) : (
            <>
              <DataTable label="Versions" heads={['Version', ...NUMBERS]} right={NUMBERS}>
                {rowsOf(stats).map((row) => (
                  <Row
                    key={row.group}
                    row={row}
                    to={address('executions', {
                      ...{ namespace, workflow_name: name, version: row.group ?? '' },
                      created_after: stats.from,
                    })}
                  />
                ))}
              </DataTable>
              {stats.cut && (
                <p class="stale">
                  There were more executions than were measured: choose a shorter time.
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </>
  )
}

type Bucket = Stats['buckets'][number]

/** One row of each version, the newest first; its times are those of the step that covers the whole range. */
const rowsOf = ({ buckets }: Stats): Bucket[] =>
  [...buckets].sort((a, b) => Number(b.group) - Number(a.group))

const timeText = (seconds: number | undefined) =>
  seconds === undefined ? '–' : duration(seconds * 1_000)

const Row = ({ row, to }: { row: Bucket; to: string }) => {
  const { queue_wait: wait, run_time: ran } = row
  return (
    <tr>
      <th scope="row" class="num">
        {row.group}
      </th>
      <td class="num right">
        <Link to={to} aria-label={`${count(row.started)} executions of version ${row.group}`}>
          {count(row.started)}
        </Link>
      </td>
      <td class="num right">{count(row.ended)}</td>
      <td class="num right">{count(row.failed)}</td>
      {[wait?.p50, wait?.p95, ran?.p50, ran?.p95, ran?.p99].map((seconds, i) => (
        <td key={i} class="num right">
          {timeText(seconds)}
        </td>
      ))}
    </tr>
  )
}
