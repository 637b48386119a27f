import type { TimelineView } from '../api/timeline.ts'

export type CallState = 'running' | 'completed' | 'failed' | 'paused' | 'awaiting' | 'rejected'

/** One call of a task. Times are milliseconds since 1970. */
export interface Call {
  /** Number of its first entry in the log. */
  seq: number
  name: string
  from: number
  /** Undefined while it runs. */
  to: number | undefined
  state: CallState
  /** Retries after the first try. */
  retries: number
  /** Its result was there already: of a fork, or of a cache. */
  isCached: boolean
  /** Its rollback has run. */
  isCompensated: boolean
  /** Calls that enclose it. */
  depth: number
}

const STATES: Record<string, CallState | undefined> = {
  r: 'running',
  c: 'completed',
  f: 'failed',
  p: 'paused',
  a: 'awaiting',
  x: 'rejected',
}

type Columns = TimelineView['calls']

/** Reads the columns of a timeline; calls are in the order of their first entries. */
export function callsOf({ base, tasks, calls }: TimelineView): Call[] {
  const found: Call[] = []
  // Places and starts are differences from the call before.
  let seq = 0
  let from = Date.parse(base)
  for (const [i, task] of calls.task.entries()) {
    seq += calls.seq[i] ?? 0
    from += calls.start[i] ?? 0
    const duration = calls.duration[i] ?? -1
    found.push({
      ...{ seq, name: tasks[task] ?? '', from, to: duration < 0 ? undefined : from + duration },
      ...{ state: STATES[calls.state[i] ?? ''] ?? 'running', retries: 0 },
      ...{ isCached: false, isCompensated: false, depth: 0 },
    })
  }
  applyLists(found, calls)
  return found
}

/** Adds what the timeline lists for some calls by their positions. */
function applyLists(found: readonly Call[], { tries, cached, compensated, parent }: Columns): void {
  const change = (i: number | undefined, changes: Partial<Call>) =>
    Object.assign(found[i ?? -1] ?? {}, changes)
  for (const [i, count = 1] of tries) change(i, { retries: count - 1 })
  for (const i of cached) change(i, { isCached: true })
  for (const i of compensated) change(i, { isCompensated: true })
  for (const [i, of = -1] of parent) change(i, { depth: (found[of]?.depth ?? -1) + 1 })
}
