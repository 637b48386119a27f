import type { Stats } from '../api/stats.ts'
import type { ChartStep } from '../ui/bar-chart.tsx'

/** All steps of the range in their order, those without an execution too. */
export function stepsOf(
  { from, to, step, buckets }: Stats,
  valuesOf: (bucket: Stats['buckets'][number] | undefined) => number[],
): ChartStep[] {
  const known = new Map(buckets.map((bucket) => [Date.parse(bucket.at), bucket]))
  const [first, last] = [Date.parse(from), Date.parse(to)]
  const steps: ChartStep[] = []
  for (let at = first; at < last; at += step * 1_000)
    steps.push({ at, values: valuesOf(known.get(at)) })
  return steps
}
