import { isTerminal } from '@windlass/domain/states'
import type { Hash } from './call-scopes.ts'
import { type CallColumns, TimelineCalls } from './timeline-calls.ts'

/**
 * A log condensed to what can be drawn: attempts of workers, and calls of tasks. Columns of numbers keep
 * 100,000 events within 1.5 MB. Times are milliseconds since `base`.
 */
export interface Timeline {
  base: string
  state: string
  last_seq: number
  /** True if the log is longer than the part that was read. */
  cut: boolean
  attempts: AttemptView[]
  /** Names of tasks; calls have positions in this list. */
  tasks: string[]
  calls: CallColumns
}

export interface AttemptView {
  worker: string
  seq: number
  /** Null if the log does not contain it. */
  queued: number | null
  scheduled: number | null
  claimed: number | null
  started: number | null
  ended: number | null
  /**
   * `completed`, `failed`, `cancelled` or `paused`; `lost`: another attempt followed; null: it is running.
   */
  end: string | null
}

interface OutlineEvent {
  seq: number
  type: string
  source_id: string
  name: string
  time: string
  is_cached?: boolean
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

/** Collects the entries of a log, in order, and builds their timeline. */
export class TimelineBuilder {
  readonly #baseMs: number
  readonly #hash: Hash
  readonly #attempts: AttemptView[] = []
  #queued: number | null = 0
  readonly #calls = new TimelineCalls()

  constructor(created_at: Date, hash: Hash) {
    this.#baseMs = created_at.getTime()
    this.#hash = hash
  }

  add(event: OutlineEvent): void {
    const at = (msOf(event.time) ?? this.#baseMs) - this.#baseMs
    const isOfCall = event.type.startsWith('TASK_')
    // A fork begins with entries of its origin, which precede its own first attempt.
    const isCopied = this.#attempts.length === 0 && at < 0
    if (isOfCall) this.#calls.add(event, isCopied ? 0 : at, isCopied)
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
      tasks: this.#calls.tasks,
      calls: this.#calls.columns(this.#hash),
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
}

/** Times without an offset are in UTC. */
function msOf(time: string): number | undefined {
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`)
  return Number.isNaN(ms) ? undefined : ms
}
