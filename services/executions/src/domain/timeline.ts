import { isTerminal } from '@windlass/domain/states'

/**
 * A log condensed to what can be drawn: attempts of workers, and calls of tasks. Columns of numbers keep
 * 100,000 events within 1.5 MB. Times are milliseconds since `base`.
 */
export interface Timeline {
  base: string
  state: string
  last_seq: number
  /** True if the log is longer than what was read. */
  cut: boolean
  attempts: AttemptView[]
  /** Names of tasks; calls have positions in this list. */
  tasks: string[]
  calls: {
    task: number[]
    /** `seq` of the first entry of the call, as difference from the call before. */
    seq: number[]
    /** Milliseconds since the start of the call before; of the first one since `base`. */
    start: number[]
    /** Milliseconds; -1 while the call has no end. */
    duration: number[]
    /** One letter for each call: see CALL_STATES. */
    state: string
    /** Position of a call and its number of tries, if it was tried more than once. */
    tries: [call: number, tries: number][]
    /** Positions of calls whose result was there before they began, or was copied from the origin of a fork. */
    cached: number[]
    /** Positions of calls whose rollback has run. */
    compensated: number[]
    /** Position of a call and of the call that made it, where the log names it. */
    parent: [call: number, parent: number][]
  }
}

export const CALL_STATES = {
  running: 'r',
  completed: 'c',
  failed: 'f',
  paused: 'p',
  awaiting_approval: 'a',
  rejected: 'x',
} as const
type CallState = keyof typeof CALL_STATES

export interface AttemptView {
  worker: string
  seq: number
  /** Null where the log does not tell. */
  queued: number | null
  scheduled: number | null
  claimed: number | null
  started: number | null
  ended: number | null
  /** `completed`, `failed`, `cancelled` or `paused`; `lost`: another attempt followed; null: it runs. */
  end: string | null
}

interface OutlineEvent {
  seq: number
  type: string
  source_id: string
  name: string
  time: string
}

interface Call {
  task: number
  seq: number
  start: number
  end: number
  state: CallState
  tries: number
  isCached: boolean
  isCompensated: boolean
}

const ENDS: Record<string, string> = {
  WORKFLOW_COMPLETED: 'completed',
  WORKFLOW_FAILED: 'failed',
  WORKFLOW_CANCELLED: 'cancelled',
  WORKFLOW_PAUSED: 'paused',
}

const STEPS: Record<string, 'scheduled' | 'claimed' | 'started'> = {
  WORKFLOW_SCHEDULED: 'scheduled',
  WORKFLOW_RESUME_SCHEDULED: 'scheduled',
  WORKFLOW_CLAIMED: 'claimed',
  WORKFLOW_RESUME_CLAIMED: 'claimed',
  WORKFLOW_STARTED: 'started',
  WORKFLOW_RESUMED: 'started',
}

const CALL_CHANGES: Record<string, CallState> = {
  TASK_STARTED: 'running',
  TASK_RESUMED: 'running',
  TASK_APPROVED: 'running',
  TASK_COMPLETED: 'completed',
  TASK_FAILED: 'failed',
  TASK_PAUSED: 'paused',
  TASK_AWAITING_APPROVAL: 'awaiting_approval',
  TASK_REJECTED: 'rejected',
}

const HAS_ENDED: ReadonlySet<CallState> = new Set<CallState>(['completed', 'failed', 'rejected'])

/** Takes the entries of a log, in order, and makes their timeline. */
export class TimelineBuilder {
  readonly #baseMs: number
  readonly #attempts: AttemptView[] = []
  #queued: number | null = 0
  readonly #tasks = new Map<string, number>()
  readonly #calls = new Map<string, Call>()

  constructor(created_at: Date) {
    this.#baseMs = created_at.getTime()
  }

  add(event: OutlineEvent): void {
    const at = (msOf(event.time) ?? this.#baseMs) - this.#baseMs
    const isOfCall = event.type.startsWith('TASK_')
    // A fork begins with entries of its origin, before its own first attempt.
    const isCopied = this.#attempts.length === 0 && at < 0
    if (isOfCall) this.#addToCall(event, isCopied ? 0 : at, isCopied)
    else if (!isCopied || STEPS[event.type]) this.#addToAttempt(event, at)
  }

  build(execution: { state: string; last_seq: number }, cut: boolean): Timeline {
    if (isTerminal(execution.state)) {
      const open = this.#attempts.at(-1)
      if (open && open.end === null) open.end = 'lost'
    }
    return {
      base: new Date(this.#baseMs).toISOString(),
      ...execution,
      cut,
      attempts: this.#attempts,
      tasks: [...this.#tasks.keys()],
      calls: columnsOf([...this.#calls.values()]),
    }
  }

  #addToAttempt({ type, name, seq }: OutlineEvent, at: number): void {
    if (type === 'WORKFLOW_RESUMING') this.#queued = at
    const step = STEPS[type]
    const open = this.#attempts.at(-1)
    if (step === 'scheduled' || (step === 'claimed' && (!open || open.claimed !== null)))
      this.#open(name, seq, step, at)
    else if (step && open && open.end === null) open[step] ??= at
    const end = ENDS[type]
    if (end && open && open.end === null) Object.assign(open, { end, ended: at })
  }

  #open(worker: string, seq: number, step: 'scheduled' | 'claimed', at: number): void {
    const open = this.#attempts.at(-1)
    if (open && open.end === null) open.end = 'lost'
    const none = { scheduled: null, claimed: null, started: null, ended: null, end: null }
    this.#attempts.push({ worker, seq, queued: this.#queued, ...none, [step]: at })
    this.#queued = null
  }

  #addToCall({ type, name, source_id, seq }: OutlineEvent, at: number, isCopied: boolean): void {
    const call = this.#calls.get(source_id) ?? this.#newCall({ type, name, source_id, seq }, at)
    call.isCached ||= isCopied
    if (type === 'TASK_RETRY_STARTED') call.tries++
    if (type === 'TASK_ROLLBACK_COMPLETED') call.isCompensated = true
    const state = CALL_CHANGES[type]
    if (!state) return
    call.state = state
    call.end = HAS_ENDED.has(state) ? at : -1
  }

  #newCall({ type, name, source_id, seq }: Omit<OutlineEvent, 'time'>, at: number): Call {
    const task = this.#tasks.get(name) ?? this.#tasks.size
    this.#tasks.set(name, task)
    const call: Call = {
      ...{ task, seq, start: at, end: -1, state: 'running', tries: 1 },
      ...{ isCached: type === 'TASK_COMPLETED', isCompensated: false },
    }
    this.#calls.set(source_id, call)
    return call
  }
}

function columnsOf(calls: readonly Call[]): Timeline['calls'] {
  const positions = (is: (call: Call) => boolean) => calls.flatMap((call, i) => (is(call) ? i : []))
  const deltas = (of: (call: Call) => number) =>
    calls.map((call, i) => of(call) - (i > 0 ? of(calls[i - 1] as Call) : 0))
  return {
    task: calls.map(({ task }) => task),
    seq: deltas(({ seq }) => seq),
    start: deltas(({ start }) => start),
    duration: calls.map(({ start, end }) => (end < 0 ? -1 : Math.max(0, end - start))),
    state: calls.map(({ state }) => CALL_STATES[state]).join(''),
    tries: calls.flatMap(({ tries }, i) => (tries > 1 ? [[i, tries]] : [])),
    cached: positions(({ isCached }) => isCached),
    compensated: positions(({ isCompensated }) => isCompensated),
    parent: [],
  }
}

/** Times without an offset are UTC. */
function msOf(time: string): number | undefined {
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`)
  return Number.isNaN(ms) ? undefined : ms
}
