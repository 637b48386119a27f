import type { TimelineView } from '../api/timeline.ts'

export type CallState = 'running' | 'completed' | 'failed' | 'paused' | 'awaiting' | 'rejected'

/** A part of the time, in milliseconds since 1970; without an end while it lasts. */
interface Period {
  from: number
  to: number | undefined
}

/** One call of a task. Times are milliseconds since 1970. */
export interface Call extends Period {
  /** Number of its first entry in the log. */
  seq: number
  name: string
  state: CallState
  /** Retries after the first try. */
  retries: number
  /** Ends of failed tries and begins of the next ones in turn, each as difference from the one before. */
  marks: readonly number[]
  /** When its rollback ran. */
  rollback: Period | undefined
  /** Its result was there already: a cache had it, or a fork began with it. */
  isCached: boolean
  /** Its fallback has run. */
  hasFallback: boolean
  /** Its rollback has run. */
  isCompensated: boolean
  /** It undoes an earlier call of a saga. */
  isCompensating: boolean
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

const NO_MARKS: readonly number[] = []

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
      seq,
      name: tasks[task] ?? '',
      from,
      to: duration < 0 ? undefined : from + duration,
      state: STATES[calls.state[i] ?? ''] ?? 'running',
      retries: 0,
      marks: NO_MARKS,
      rollback: undefined,
      isCached: false,
      hasFallback: false,
      isCompensated: false,
      isCompensating: false,
      depth: 0,
    })
  }
  applyLists(found, calls)
  return found
}

/** Adds what the timeline lists for some calls by their positions. */
function applyLists(found: readonly Call[], columns: Columns): void {
  const { tries, retries = [], rollback = [], fallback = [], compensating = [] } = columns
  const change = (i: number | undefined, changes: (call: Call) => Partial<Call>) => {
    const call = found[i ?? -1]
    if (call) Object.assign(call, changes(call))
  }
  for (const [i, count = 1] of tries) change(i, () => ({ retries: count - 1 }))
  for (const [i, ...marks] of retries) change(i, () => ({ marks }))
  for (const [i, start = 0, took = -1] of rollback)
    change(i, ({ from }) => ({ rollback: periodOf(from + start, took) }))
  for (const i of columns.cached) change(i, () => ({ isCached: true }))
  for (const i of fallback) change(i, () => ({ hasFallback: true }))
  for (const i of columns.compensated) change(i, () => ({ isCompensated: true }))
  for (const i of compensating) change(i, () => ({ isCompensating: true }))
  for (const [i, of = -1] of columns.parent)
    change(i, () => ({ depth: (found[of]?.depth ?? -1) + 1 }))
}

const periodOf = (from: number, took: number): Period => ({
  from,
  to: took < 0 ? undefined : from + took,
})

/** One try of a call. */
export interface Try extends Period {
  number: number
  hasFailed: boolean
}

/** The tries of a call; without marks of them there is one, which lasts as long as the call. */
export function triesOf({ from, to, state, marks, rollback }: Call): Try[] {
  const tries: Try[] = []
  let at = from
  for (let i = 0; i <= marks.length; i += 2) {
    const length = marks[i]
    const isLast = length === undefined
    const until = rollback?.from ?? to
    const end = isLast ? until : at + length
    const hasFailed = !isLast || state === 'failed' || rollback !== undefined
    tries.push({ number: tries.length + 1, from: at, to: end, hasFailed })
    if (isLast || marks[i + 1] === undefined) break
    at = (end ?? at) + (marks[i + 1] ?? 0)
  }
  return tries
}

/** The call whose failure most likely ended the execution: of those that failed, the one that began last. */
export const lastFailed = (calls: readonly Call[]): Call | undefined =>
  calls.findLast(({ state }) => state === 'failed')
