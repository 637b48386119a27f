import { CHARTS } from '../api/intervals.ts'
import type { Load } from '../api/shared-reading.ts'
import { recentSteps, type Stats } from '../api/stats.ts'
import { useQuery } from '../api/use-query.ts'
import { count, duration } from '../format/time.ts'
import { lists } from '../live/feed.ts'
import { BarChart } from '../ui/bar-chart.tsx'
import { isForbidden } from '../ui/feedback.tsx'
import { stepsOf } from './series.ts'

const RANGE = { seconds: 3_600, step: 120 }

const ENDED = [
  ['failed', 'bar-bad'],
  ['ended otherwise', 'ph-run'],
] as const
const WAITS = [
  ['95 of 100 waited less than', 'ph-queue'],
  ['half of them waited less than', 'ph-run'],
] as const

interface Props {
  /** Name of the statistics among the answers that are kept. */
  name: string
  load: (range: ReturnType<typeof recentSteps>, ...read: Parameters<Load<Stats>>) => Promise<Stats>
}

/** The last hour: how many executions ended, and how long they waited. Nothing without the permission. */
export function Charts({ name, load }: Props) {
  const { data, error } = useQuery(
    `stats ${name}`,
    (...reading) => load(recentSteps(RANGE.seconds, RANGE.step), ...reading),
    { ...CHARTS, live: lists.executions },
  )
  if (!data && isForbidden(error)) return null
  // Charts without numbers are as high, so that the list below does not move when they are read.
  const stats = data ?? withoutNumbers()
  return (
    <section class={`charts${data ? '' : ' unread'}`} aria-label="The last hour">
      <BarChart
        title="Ended in the last hour"
        isStacked
        isCount
        parts={ENDED}
        steps={stepsOf(stats, (one) => [one?.failed ?? 0, (one?.ended ?? 0) - (one?.failed ?? 0)])}
        format={count}
      />
      <BarChart
        title="Wait for a worker, of those that ended"
        isStacked={false}
        parts={WAITS}
        steps={stepsOf(stats, waitsOf)}
        format={(seconds) => (seconds === 0 ? '–' : duration(seconds * 1_000))}
      />
      {stats.cut && <p class="stale">There were more executions than were measured.</p>}
    </section>
  )
}

function withoutNumbers(): Stats {
  const { from, to, step } = recentSteps(RANGE.seconds, RANGE.step)
  const [first, last] = [from, to].map((ms) => new Date(ms).toISOString()) as [string, string]
  return { from: first, to: last, step, buckets: [], cut: false }
}

function waitsOf(bucket: Stats['buckets'][number] | undefined): number[] {
  const { p50 = 0, p95 = 0 } = bucket?.queue_wait ?? {}
  return [p95, p50]
}
