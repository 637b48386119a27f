import { type CallScopes, findScopes, type Hash } from './call-scopes.ts'

/** Columns with one value for each call, and lists of certain calls by their positions. */
export interface CallColumns extends CallScopes {
  task: number[]
  /** `seq` of the first entry of the call, as a difference from the previous call. */
  seq: number[]
  /** Milliseconds since the start of the previous call; for the first call, since `base`. */
  start: number[]
  /** Milliseconds; -1 while the call has no end. */
  duration: number[]
  /** One letter for each call: see CALL_STATES. */
  state: string
  /** Position of a call and its number of tries, if it was tried more than once. */
  tries: [call: number, tries: number][]
  /**
   * Position of a call, then milliseconds: from its start to the end of its first try, from there to the
   * start of the second one, and so on. The last try has an end here only if it failed.
   */
  retries: [call: number, ...times: number[]][]
  /** Positions of calls whose result a cache had, or was copied from the origin of a fork, or has no start. */
  cached: number[]
  /** Positions of calls whose fallback has run. */
  fallback: number[]
  /**
   * Position of a call, milliseconds from its start until its rollback began, and the duration of the
   * rollback, or -1.
   */
  rollback: [call: number, start: number, duration: number][]
  /** Positions of calls whose rollback has run. */
  compensated: number[]
}

export const CALL_STATES = {
  running: 'r',
  completed: 'c',
  failed: 'f',
  paused: 'p',
  awaiting_approval: 'a',
  rejected: 'x',
} as const
export type CallState = keyof typeof CALL_STATES

interface CallEvent {
  seq: number
  type: string
  source_id: string
  name: string
  is_cached?: boolean
}

interface Call {
  id: string
  task: number
  seq: number
  start: number
  end: number
  state: CallState
  tries: number
  /** Ends of failed tries and starts of the next ones, alternating. */
  retries: number[]
  rollback: { start: number; end: number } | undefined
  isCached: boolean
  hasFallback: boolean
  isCompensated: boolean
}

/** State of a call after an entry of its log. */
export const CALL_CHANGES: Record<string, CallState> = {
  TASK_STARTED: 'running',
  TASK_RESUMED: 'running',
  TASK_APPROVED: 'running',
  TASK_COMPLETED: 'completed',
  TASK_FAILED: 'failed',
  TASK_PAUSED: 'paused',
  TASK_AWAITING_APPROVAL: 'awaiting_approval',
  TASK_REJECTED: 'rejected',
}

export const ENDED: ReadonlySet<CallState> = new Set<CallState>(['completed', 'failed', 'rejected'])

/** Changes that log entries make to a call, other than its state. */
const TRACES: Record<string, (call: Call, at: number) => void> = {
  TASK_RETRY_FAILED: ({ retries }, at) => {
    if (!isBetweenTries(retries)) retries.push(at)
  },
  TASK_RETRY_STARTED(call, at) {
    call.tries++
    // The previous try was cut off with its worker: the log has no end of it.
    if (!isBetweenTries(call.retries)) call.retries.push(at)
    call.retries.push(at)
  },
  TASK_FALLBACK_STARTED(call) {
    call.hasFallback = true
  },
  TASK_ROLLBACK_STARTED(call, at) {
    call.rollback ??= { start: at, end: -1 }
  },
  TASK_ROLLBACK_COMPLETED(call, at) {
    call.isCompensated = true
    endRollback(call, at)
  },
  TASK_ROLLBACK_FAILED: endRollback,
}

const isBetweenTries = (retries: readonly number[]) => retries.length % 2 === 1

function endRollback(call: Call, at: number): void {
  call.rollback = { start: call.rollback?.start ?? at, end: at }
}

/** The task calls of a log, collected entry by entry. */
export class TimelineCalls {
  readonly #tasks = new Map<string, number>()
  readonly #calls = new Map<string, Call>()

  /** Names of tasks; calls have positions in this list. */
  get tasks(): string[] {
    return [...this.#tasks.keys()]
  }

  /** Adds an entry at a time in milliseconds; `isCopied`: it was copied from the origin of a fork. */
  add(event: CallEvent, at: number, isCopied: boolean): void {
    const call = this.#calls.get(event.source_id) ?? this.#newCall(event, at)
    call.isCached ||= isCopied || event.is_cached === true
    TRACES[event.type]?.(call, at)
    const state = CALL_CHANGES[event.type]
    if (!state) return
    call.state = state
    call.end = ENDED.has(state) ? at : -1
  }

  #newCall({ type, name, source_id, seq }: CallEvent, at: number): Call {
    const task = this.#tasks.get(name) ?? this.#tasks.size
    this.#tasks.set(name, task)
    // An object literal, because a spread took five times as long for each of 50,000 calls.
    const call: Call = {
      id: source_id,
      task,
      seq,
      start: at,
      end: -1,
      state: 'running',
      tries: 1,
      retries: [],
      rollback: undefined,
      isCached: type === 'TASK_COMPLETED',
      hasFallback: false,
      isCompensated: false,
    }
    this.#calls.set(source_id, call)
    return call
  }

  columns(hash: Hash): CallColumns {
    const calls = [...this.#calls.values()]
    return { ...columnsOf(calls), ...findScopes(calls, hash) }
  }
}

function columnsOf(calls: readonly Call[]): Omit<CallColumns, keyof CallScopes> {
  const columns: Omit<CallColumns, keyof CallScopes> = {
    ...{ task: [], seq: [], start: [], duration: [], state: '', tries: [], retries: [] },
    ...{ cached: [], fallback: [], rollback: [], compensated: [] },
  }
  let [seq, start] = [0, 0]
  for (const [i, call] of calls.entries()) {
    columns.task.push(call.task)
    columns.seq.push(call.seq - seq)
    columns.start.push(call.start - start)
    columns.duration.push(lengthOf(call.start, call.end))
    columns.state += CALL_STATES[call.state]
    seq = call.seq
    start = call.start
    if (!isPlain(call)) addToLists(columns, call, i)
  }
  return columns
}

/** True if no list names the call, as is the case for most calls. */
const isPlain = (call: Call): boolean =>
  call.retries.length === 0 &&
  !(call.isCached || call.hasFallback || call.isCompensated || call.rollback)

type Lists = Pick<
  CallColumns,
  'tries' | 'retries' | 'cached' | 'fallback' | 'rollback' | 'compensated'
>

function addToLists(lists: Lists, call: Call, i: number): void {
  const { start, tries, retries, rollback } = call
  if (tries > 1) lists.tries.push([i, tries])
  if (retries.length > 0)
    lists.retries.push([i, ...retries.map((at, n) => Math.max(0, at - (retries[n - 1] ?? start)))])
  if (call.isCached) lists.cached.push(i)
  if (call.hasFallback) lists.fallback.push(i)
  if (rollback)
    lists.rollback.push([
      i,
      Math.max(0, rollback.start - start),
      lengthOf(rollback.start, rollback.end),
    ])
  if (call.isCompensated) lists.compensated.push(i)
}

const lengthOf = (start: number, end: number) => (end < 0 ? -1 : Math.max(0, end - start))
