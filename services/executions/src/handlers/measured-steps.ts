/*
 * Statistics by steps of time, of which those that have passed are kept.
 *
 * Measuring an execution takes about 2 us of PostgreSQL, so an hour with 200,000 executions takes 400 ms. Consoles read the
 * same hours again and again, and only the newest steps of them change. An earlier step is therefore kept in memory:
 * executions are created and end at the present time, so what happened in a step is settled soon after its end. A
 * request measures the steps that are not kept, the newest first, until it has measured MAX_MEASURED executions; the
 * next one continues with the earlier steps.
 *
 * While many executions run, the newest steps alone take long. The answer to equal requests is then the same for a time
 * that grows with its duration, so that repeated requests take at most a fiftieth of it.
 *
 * What is kept may lack the removal of executions by retention, and repeated reads find it within KEPT_MS, or a twelfth of
 * a longer step, of which that is a small part. Steps are kept for equal filters, rights and bounds only: a client that
 * moves a range should move it by whole steps. Long steps cannot be made of short ones, because percentiles do not add up.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Bucket, Measured, StatsFilter } from '../store/stats.ts'

/** Maximum number of executions of each kind that one request measures. */
const MAX_MEASURED = 200_000
/** Executions that one statement should measure. */
const OF_STATEMENT = 20_000
/** A step is settled so long after its end, by the clock of the database: longer than a transaction lasts. */
const SETTLED_AFTER_MS = 60_000
const KEPT_MS = 300_000
const KEPT_PARTS_OF_STEP = 12
/** Longest time for which a step is kept. */
const MAX_KEPT_MS = 3_600_000
/** Maximum number of kept buckets, of about 200 bytes each. */
const MAX_KEPT = 50_000

/** An answer that took longer is given again for so many times as long, and at most REPEATED_MS. */
const SHORT_MS = 20
const TIMES_REPEATED = 50
const REPEATED_MS = 10_000
const MAX_REPEATED = 100

type Rows = Omit<Measured, 'as_of'>

interface Result extends Rows {
  /** True if earlier steps were not measured, or in part. */
  cut: boolean
}

/** Steps from `start` up to and without `end`. */
interface Part {
  start: number
  end: number
}

type Measure = (filter: StatsFilter, limit: number) => Promise<Measured>

export class MeasuredSteps {
  readonly #measure: Measure
  readonly #now: () => number
  readonly #kept: LRUCache<string, Rows>
  readonly #repeated: LRUCache<string, Result>

  constructor(measure: Measure, now: () => number = () => performance.now()) {
    this.#measure = measure
    this.#now = now
    const clock = { perf: { now }, ttlResolution: 0 }
    this.#kept = new LRUCache({
      ...{ ...clock, maxSize: MAX_KEPT },
      sizeCalculation: ({ created, ended }) => 1 + created.length + ended.length,
    })
    this.#repeated = new LRUCache({ ...clock, max: MAX_REPEATED })
  }

  async read(filter: StatsFilter): Promise<Result> {
    const range = new Steps(filter)
    const repeated = this.#repeated.get(range.allKey)
    if (repeated) return repeated
    const begunAt = this.#now()
    const result = await this.#readSteps(range)
    const tookMs = this.#now() - begunAt
    const ttl = Math.min(REPEATED_MS, TIMES_REPEATED * tookMs)
    if (tookMs > SHORT_MS) this.#repeated.set(range.allKey, result, { ttl })
    return result
  }

  async #readSteps(range: Steps): Promise<Result> {
    const kept = Array.from({ length: range.count }, (_, step) => this.#kept.get(range.key(step)))
    const result: Result = { created: [], ended: [], cut: false }
    let left = MAX_MEASURED
    let atOnce = 1
    for (let start = 0, end = range.count; end > 0; end = start) {
      const known = kept[end - 1]
      start = end - 1
      if (known) add(result, known, start)
      else if (left === 0) result.cut = true
      else {
        while (start > 0 && !kept[start - 1] && end - start < atOnce) start--
        const count = await this.#measureInto(result, range, { start, end, limit: left })
        left -= count
        atOnce = Math.max(1, Math.floor((OF_STATEMENT * (end - start)) / Math.max(1, count)))
      }
    }
    return result
  }

  /** Returns the number of executions that were measured. */
  async #measureInto(result: Result, range: Steps, part: Part & { limit: number }) {
    const measured = await this.#measure(range.part(part), part.limit)
    add(result, measured, part.start)
    const count = Math.max(countOf(measured.created), countOf(measured.ended))
    if (count < part.limit) this.#keep(range, measured, part)
    else result.cut = true
    return count
  }

  #keep(range: Steps, { created, ended, as_of }: Measured, { start, end }: Part): void {
    if (!range.isSettling) return
    const createdIn = byStep(created)
    const endedIn = byStep(ended)
    for (let step = start; step < end; step++) {
      if (range.endOf(step) > as_of.getTime() - SETTLED_AFTER_MS) return
      const rows = {
        created: createdIn.get(step - start) ?? [],
        ended: endedIn.get(step - start) ?? [],
      }
      this.#kept.set(range.key(step), rows, { ttl: range.keptMs })
    }
  }
}

/** The steps of a request. */
class Steps {
  readonly count: number
  /**
   * False for workers and errors, which an execution gets after its creation: then what was created in a step changes
   * later.
   */
  readonly isSettling: boolean
  readonly #filter: StatsFilter
  readonly #key: string

  constructor(filter: StatsFilter) {
    const { from, to, step_seconds, ...rest } = filter
    this.#filter = filter
    this.count = Math.ceil((to.getTime() - from.getTime()) / (1_000 * step_seconds))
    this.isSettling =
      filter.worker_name === '' && ['', 'workflow', 'version'].includes(filter.group)
    // Rights may be a long list.
    this.#key = createHash('sha256').update(JSON.stringify(rest)).digest('base64')
  }

  /** Milliseconds for which a settled step is kept. */
  get keptMs(): number {
    const part = (1_000 * this.#filter.step_seconds) / KEPT_PARTS_OF_STEP
    return Math.min(MAX_KEPT_MS, Math.max(KEPT_MS, part))
  }

  /** Milliseconds since 1970 at which a step ends. */
  endOf(step: number): number {
    return Math.min(this.#startOf(step + 1), this.#filter.to.getTime())
  }

  key(step: number): string {
    return `${this.#startOf(step)} ${this.endOf(step)} ${this.#key}`
  }

  /** Equal for requests with the same answer. */
  get allKey(): string {
    return `${this.#filter.step_seconds} ${this.#startOf(0)} ${this.endOf(this.count - 1)} ${this.#key}`
  }

  part({ start, end }: Part): StatsFilter {
    const [from, to] = [new Date(this.#startOf(start)), new Date(this.endOf(end - 1))]
    return { ...this.#filter, from, to }
  }

  #startOf(step: number): number {
    return this.#filter.from.getTime() + step * 1_000 * this.#filter.step_seconds
  }
}

/** Rows of each step, which then count from that step. */
function byStep<T extends Bucket>(rows: readonly T[]): Map<number, T[]> {
  const steps = new Map<number, T[]>()
  for (const row of rows) {
    const known = steps.get(row.step)
    const first = { ...row, step: 0 }
    if (known) known.push(first)
    else steps.set(row.step, [first])
  }
  return steps
}

/** Adds rows whose steps are counted from `start`. */
function add(result: Result, { created, ended }: Rows, start: number): void {
  for (const row of created) result.created.push({ ...row, step: row.step + start })
  for (const row of ended) result.ended.push({ ...row, step: row.step + start })
}

const countOf = (rows: readonly Bucket[]): number =>
  rows.reduce((total, { count }) => total + count, 0)
