import type { LogEvent } from '../exact/execution.ts'

export type Phase = 'queue' | 'claim' | 'run' | 'paused'

/** A part of the life of an execution. Times are milliseconds since 1970. */
export interface Segment {
  phase: Phase
  from: number
  /** For a segment without an end: the current time. */
  to: number
  isOpen: boolean
}

/** One try on a worker: from the queue to its end, or to the next try. */
export interface Attempt {
  segments: Segment[]
  worker: string | undefined
}

/** Entries that begin a phase; `WORKFLOW_SCHEDULED` is written when a worker is assigned. */
const PHASE_AFTER: Record<string, Phase | undefined> = {
  WORKFLOW_SCHEDULED: 'claim',
  WORKFLOW_CLAIMED: 'claim',
  WORKFLOW_STARTED: 'run',
  WORKFLOW_PAUSED: 'paused',
  WORKFLOW_RESUMING: 'queue',
  WORKFLOW_RESUME_SCHEDULED: 'claim',
  WORKFLOW_RESUME_CLAIMED: 'claim',
  WORKFLOW_RESUMED: 'run',
}

const ENDS = new Set(['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED'])

/** Collects the attempts of a log; `open` is the segment that has no end yet. */
class Attempts {
  readonly all: Attempt[] = []
  #open: Segment | undefined
  #hasRun = false
  readonly #now: number

  constructor(created: number, now: number) {
    this.#now = now
    this.#begin('queue', created)
  }

  add({ type, time, name }: LogEvent): void {
    // A worker that takes over an execution continues with its tasks: no log entry says that it has begun.
    const continues = type === 'WORKFLOW_CLAIMED' && this.#hasRun
    const phase = continues ? 'run' : PHASE_AFTER[type]
    if (phase === 'run') this.#hasRun = true
    if (type === 'WORKFLOW_SCHEDULED' && this.#open && this.#open.phase !== 'queue')
      this.#next(time)
    if (phase) this.#begin(phase, time)
    const attempt = this.all.at(-1)
    if (attempt && /(?:SCHEDULED|CLAIMED)$/.test(type)) attempt.worker = name
    if (ENDS.has(type)) this.#close(time)
  }

  #next(at: number): void {
    this.#close(at)
    this.all.push({ segments: [], worker: undefined })
  }

  #close(at: number): void {
    if (this.#open) Object.assign(this.#open, { to: Math.max(at, this.#open.from), isOpen: false })
    this.#open = undefined
  }

  #begin(phase: Phase, from: number): void {
    if (this.#open?.phase === phase) return
    this.#close(from)
    this.#open = { phase, from, to: Math.max(this.#now, from), isOpen: true }
    const last = this.all.at(-1)
    if (last) last.segments.push(this.#open)
    else this.all.push({ segments: [this.#open], worker: undefined })
  }
}

/** Divides the life of an execution into attempts and their phases. */
export function attemptsOf(created: number, events: readonly LogEvent[], now: number): Attempt[] {
  const attempts = new Attempts(created, now)
  for (const event of events) attempts.add(event)
  return attempts.all
}

/** From the creation to the end, or to now. */
export function spanOf(attempts: readonly Attempt[]): { from: number; to: number } {
  const all = attempts.flatMap(({ segments }) => segments)
  const from = Math.min(...all.map((one) => one.from))
  const to = Math.max(...all.map((one) => one.to))
  return Number.isFinite(from) ? { from, to } : { from: 0, to: 0 }
}

/** The time in an id of version 7, in milliseconds since 1970; undefined for other ids. */
export function timeOfId(id: string): number | undefined {
  const digits = id.replaceAll('-', '')
  return /^[0-9a-f]{12}7[0-9a-f]{19}$/i.test(digits)
    ? Number.parseInt(digits.slice(0, 12), 16)
    : undefined
}
