import type { LiveSource } from '../live/live-source.ts'
import { type AnswerAge, Poll } from './poll.ts'
import { serverNow } from './server-clock.ts'

/** An answer as far as it is known. */
export interface Known {
  data: unknown
  /** Why the last request failed. */
  error: Error | undefined
  /** When `data` was read, in milliseconds since 1970. */
  readAt: number | undefined
}

/** When an answer is read again, and whether it is kept for a later visit of its screen. */
export interface Schedule {
  every: number | undefined
  everyWhileLive: number | undefined
  live: LiveSource | undefined
  gapMs: number
  isKept: boolean
}

type Listener = (known: Known) => void

/** Reads an answer, of which the age may be up to a maximum. */
export type Load<T> = (signal: AbortSignal, age: AnswerAge) => Promise<T>

/** Answers of screens that were left, so that going back shows them at once. */
const kept = new Map<string, Pick<Known, 'data' | 'readAt'>>()
const MAX_KEPT = 100

function keep(key: string, answer: Pick<Known, 'data' | 'readAt'>): void {
  kept.delete(key)
  kept.set(key, answer)
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
}

/** Forgets every answer: another caller has signed in. */
export const forgetAnswers = (): void => kept.clear()

/** The answer of an earlier screen, if there is one. */
export const knownOf = (key: string): Known => ({
  ...{ data: undefined, readAt: undefined, ...kept.get(key) },
  error: undefined,
})

/** An answer that is read again by time or on changes, for all parts of a page that show it. */
class Reading {
  readonly schedule: Schedule
  readonly #poll: Poll
  readonly #leave: (() => void) | undefined
  readonly #listeners = new Set<Listener>()
  #known: Known

  constructor(key: string, load: Load<unknown>, schedule: Schedule) {
    const { every, everyWhileLive, live, gapMs, isKept } = schedule
    this.schedule = schedule
    this.#known = knownOf(key)
    this.#poll = new Poll(
      async (signal, age) => {
        const data = await load(signal, age)
        if (signal.aborted) return
        const answer = { data, readAt: serverNow() - age.ms }
        if (isKept) keep(key, answer)
        this.#tell({ ...answer, error: undefined })
      },
      (error) => this.#tell({ ...this.#known, error }),
      () => (live?.isLive ? everyWhileLive : every),
      every,
    )
    this.#leave = live?.subscribe(
      (gap = gapMs, areSkipped = false) => this.#poll.soon(gap, areSkipped),
      () => this.#poll.plan(),
    )
  }

  get isUsed(): boolean {
    return this.#listeners.size > 0
  }

  now = (): void => this.#poll.now()

  add(listener: Listener): void {
    this.#listeners.add(listener)
    listener(this.#known)
  }

  /** Stops with the last listener. */
  remove(listener: Listener): void {
    this.#listeners.delete(listener)
    if (this.isUsed) return
    this.#leave?.()
    this.#poll.stop()
  }

  #tell(known: Known): void {
    this.#known = known
    for (const listener of this.#listeners) listener(known)
  }
}

const readings = new Map<string, Reading>()

const isSame = (one: Schedule, other: Schedule): boolean =>
  one.every === other.every &&
  one.everyWhileLive === other.everyWhileLive &&
  one.live === other.live &&
  one.gapMs === other.gapMs &&
  one.isKept === other.isKept

/**
 * Reads an answer until the returned function is called. Parts of a page that name the same key and schedule
 * share the requests; the listener is called at once with what is known, and for each answer and failure.
 */
export function joinReading(
  key: string,
  load: Load<unknown>,
  schedule: Schedule,
  listener: Listener,
): { now: () => void; leave: () => void } {
  const known = readings.get(key)
  const reading =
    known && isSame(known.schedule, schedule) ? known : new Reading(key, load, schedule)
  if (!known) readings.set(key, reading)
  reading.add(listener)
  const leave = () => {
    reading.remove(listener)
    if (!reading.isUsed && readings.get(key) === reading) readings.delete(key)
  }
  return { now: reading.now, leave }
}
