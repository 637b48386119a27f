import { CHARTS } from '../api/intervals.ts'
import { serverNow } from '../api/server-clock.ts'
import { readStats, type Stats } from '../api/stats.ts'
import { useQuery } from '../api/use-query.ts'
import { count } from '../format/time.ts'
import { stepsOf } from '../home/series.ts'
import { lists } from '../live/feed.ts'
import { changed } from '../location/address.ts'
import { navigate } from '../location/location.ts'
import { BarChart } from '../ui/bar-chart.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { VisibleText } from '../ui/visible-text.tsx'
import { filterOf, GROUPS, type Group, groupRows } from './groups.ts'
import { LENGTHS, rangeOf, stepsBetween } from './range.ts'

const PATH = 'executions'
/** Rows of the table of groups. */
const SHOWN = 20

const PARTS = [
  ['created', 'ph-run'],
  ['failed, at the time of their end', 'bar-bad'],
] as const

/** Executions over time and in groups, for the workflow and the time of the filter. */
export function Overview({ query }: { query: URLSearchParams }) {
  const group = GROUPS.find((one) => one === query.get('group'))
  const to = (values: Record<string, string | undefined>) =>
    changed(PATH, query, { offset: undefined, ...values })
  const filter = {
    group,
    namespace: query.get('namespace') ?? undefined,
    workflow_name: query.get('workflow_name') ?? undefined,
  }
  const asked = ['range', 'created_after', 'created_before'].map((name) => query.get(name))
  const answer = useQuery(
    `overview ${JSON.stringify([filter, asked])}`,
    (...read) => readStats(rangeOf(query, serverNow()), filter, ...read),
    { ...CHARTS, live: lists.executions },
  )
  return (
    <section class="page-body over-time" aria-label="Over time">
      <Loaded answer={answer} lines={4}>
        {(stats) => (
          <>
            <Histogram stats={stats} query={query} to={to} />
            {group && <Groups group={group} stats={stats} to={to} />}
            {stats.cut && (
              <p class="stale">
                There were more executions than were measured: choose a shorter time.
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}

interface Props {
  stats: Stats
  to: (values: Record<string, string | undefined>) => string
}

const iso = (time: number) => new Date(time).toISOString()

function Histogram({ stats, query, to }: Props & { query: URLSearchParams }) {
  const range = { from: Date.parse(stats.from), to: Date.parse(stats.to), step: stats.step }
  const within = (from: number, until: number) =>
    to({ created_after: iso(from), created_before: iso(until), range: undefined })
  const steps = stepsOf({ ...stats, buckets: perStep(stats) }, (one) => [
    one?.started ?? 0,
    one?.failed ?? 0,
  ])
  return (
    <BarChart
      title="Executions over time"
      isStacked={false}
      isCount
      parts={PARTS}
      steps={steps}
      format={count}
      actions={<Lengths query={query} to={to} />}
      select={{
        onSelect: (a, b) => {
          const { from, to: until } = stepsBetween(range, a, b)
          navigate(within(from, until))
        },
        stepAddress: (at) => within(at, at + stats.step * 1_000),
      }}
    />
  )
}

/** The steps without their groups. */
function perStep({ buckets }: Stats): Stats['buckets'] {
  const steps = new Map<string, Stats['buckets'][number]>()
  for (const one of buckets) {
    const step = steps.get(one.at) ?? { ...one, group: null, started: 0, ended: 0, failed: 0 }
    step.started += one.started
    step.ended += one.ended
    step.failed += one.failed
    steps.set(one.at, step)
  }
  return [...steps.values()]
}

type To = Props['to']

/** Lengths of time up to now, and groups; each is a link, so the address says what is shown. */
function Lengths({ query, to }: { query: URLSearchParams; to: To }) {
  const isNarrowed = query.has('created_after') || query.has('created_before')
  const length = isNarrowed ? '' : (query.get('range') ?? '1h')
  const whole = { created_after: undefined, created_before: undefined }
  const group = query.get('group') ?? ''
  return (
    <>
      <nav class="chips" aria-label="Time">
        {LENGTHS.map(([name]) => (
          <Chip key={name} isOn={name === length} to={to({ ...whole, range: name })}>
            {name}
          </Chip>
        ))}
        {isNarrowed && (
          <Chip isOn to={to(whole)}>
            chosen time ✕<span class="visually-hidden"> remove</span>
          </Chip>
        )}
      </nav>
      <nav class="chips" aria-label="Counts">
        <Chip
          name="counts by state, workflow, version and worker"
          isOn={query.get('counts') === '1'}
          to={to({ counts: query.get('counts') === '1' ? undefined : '1' })}
        >
          counts
        </Chip>
      </nav>
      <nav class="chips" aria-label="Group by">
        {GROUPS.map((name) => (
          <Chip
            key={name}
            isOn={name === group}
            to={to({ group: name === group ? undefined : name })}
          >
            by {name}
          </Chip>
        ))}
      </nav>
    </>
  )
}

const Chip = ({
  isOn,
  to,
  name,
  children,
}: {
  isOn: boolean
  to: string
  /** For screen readers, where the text needs its neighbours. */
  name?: string
  children: preact.ComponentChildren
}) => (
  <Link to={to} class="chip" aria-label={name} aria-current={isOn ? 'true' : undefined}>
    {children}
  </Link>
)

const NUMBERS = ['Created', 'Ended', 'Failed']
const HEADS: Record<Group, string> = { workflow: 'Workflow', worker: 'Worker', error: 'Error' }

/** Sums of each group; its name narrows the list to it. */
function Groups({ group, stats, to }: Props & { group: Group }) {
  const rows = groupRows(stats)
  return (
    <>
      <DataTable label={`By ${group}`} heads={[HEADS[group], ...NUMBERS]} right={NUMBERS}>
        {rows.slice(0, SHOWN).map(({ name, started, ended, failed }) => {
          const filter = filterOf(group, name, stats.from)
          return (
            <tr key={name}>
              <th scope="row" class="wide">
                {filter ? (
                  <Link
                    to={to({ ...filter, group: undefined })}
                    class="name"
                    aria-label={`Only ${name}`}
                  >
                    <VisibleText text={name} />
                  </Link>
                ) : (
                  <span class="faint">none</span>
                )}
              </th>
              <td class="num right">{count(started)}</td>
              <td class="num right">{count(ended)}</td>
              <td class="num right">{count(failed)}</td>
            </tr>
          )
        })}
      </DataTable>
      {rows.length > SHOWN && (
        <p class="stale">
          The {SHOWN} groups with most executions of {count(rows.length)}.
        </p>
      )}
    </>
  )
}
