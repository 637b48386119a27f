import type { Observed } from './load.ts'
import type { Failure } from './retrying-client.ts'

/** One line of the table: a fault and what clients saw of it. */
export interface Row {
  fault: string
  runs: number
  'errors at clients': number
  'attempts repeated': number
  'recovery, s': string
  'longest pause, s': string
  'sync p50, ms': number
  'sync p99, ms': number
  'sync max, ms': number
  streams: number
  reconnects: number
  evictions: number
  'tasks run twice': number
}

export interface Fault {
  name: string
  /** Milliseconds of `performance.now()`. */
  from: number
  until: number
  evictions: number
  repeatedTasks: number
}

/**
 * Returns the line of a fault. Recovery is the time from the fault to the last attempt that failed, and the longest
 * pause that between two answers to synchronous runs.
 */
export function rowOf(seen: Observed, { name, from, evictions, repeatedTasks }: Fault): Row {
  const failed = seen.repeated.filter(({ at }) => at >= from).map(({ at }) => at)
  const answers = seen.answers.toSorted((a, b) => a - b)
  const pauses = answers.slice(1).map((at, i) => at - (answers[i] as number))
  return {
    fault: name,
    runs: seen.acknowledged.size,
    'errors at clients': seen.errors.length,
    'attempts repeated': failed.length,
    'recovery, s': inSeconds(failed.length === 0 ? 0 : Math.max(...failed) - from),
    'longest pause, s': inSeconds(Math.max(0, ...pauses)),
    'sync p50, ms': Math.round(percentile(seen.syncMs, 50)),
    'sync p99, ms': Math.round(percentile(seen.syncMs, 99)),
    'sync max, ms': Math.round(percentile(seen.syncMs, 100)),
    streams: seen.streams,
    reconnects: seen.reconnects,
    evictions,
    'tasks run twice': repeatedTasks,
  }
}

const inSeconds = (ms: number) => (ms / 1_000).toFixed(1)

/** Returns the nearest-rank percentile. */
function percentile(numbers: readonly number[], p: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN
}

/** Returns the rows as a table in Markdown. */
export function toMarkdown(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {}) as (keyof Row)[]
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => row[column]))),
  ].join('\n')
}

/** Counts failures by what they say, without ids. */
export function countKinds(failures: readonly Failure[]): string {
  const counts = new Map<string, number>()
  for (const { what } of failures) {
    const kind = what.replaceAll(/[0-9a-f]{32}/g, 'ID')
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return [...counts].map(([kind, count]) => `${count} x ${kind}`).join('; ') || 'none'
}
