import type { ExecutionPage, ExecutionRow } from '../api/executions.ts'
import { LIST } from '../api/intervals.ts'
import type { AnswerAge } from '../api/poll.ts'
import { areSkipped, type ListEvent } from './list-event.ts'
import type { LiveSource } from './live-source.ts'
import { type Filter, matches } from './matches.ts'
import { RowChanges } from './row-changes.ts'
import type { SharedFeed } from './shared-feed.ts'

/** No answer is older. */
const MAX_AGE_MS = 15_000

/** Number of the last event that had arrived at a time, and of the changes that had been skipped. */
interface Arrived {
  at: number
  number: number
  skipped: number
}

/** A list of executions whose rows change by events between two reads. */
export class LiveRows implements LiveSource {
  readonly #feed: Pick<SharedFeed, 'isLive' | 'subscribe'>
  readonly #filter: Filter
  readonly #changes = new RowChanges()
  readonly #now: () => number
  /** Arrivals of the last seconds, the oldest first: a page may be so old. */
  #arrived: Arrived[] = [{ at: Number.NEGATIVE_INFINITY, number: 0, skipped: 0 }]
  /** Arrivals up to the time of the page that was read, which has these changes. */
  #read: Omit<Arrived, 'at'> = { number: 0, skipped: 0 }
  /** Revisions of the rows that were read. */
  #revisions = new Map<string, number>()
  #skipped = 0
  #onRows = () => {}

  constructor(
    feed: Pick<SharedFeed, 'isLive' | 'subscribe'>,
    filter: Filter,
    now: () => number = () => performance.now(),
  ) {
    this.#feed = feed
    this.#filter = filter
    this.#now = now
  }

  get isLive(): boolean {
    return this.#feed.isLive
  }

  /** Changes since the last read that were too many to be sent. */
  get skipped(): number {
    return this.#skipped - this.#read.skipped
  }

  /** Calls back when rows have changed. */
  watch(onRows: () => void): () => void {
    this.#onRows = onRows
    return () => {
      this.#onRows = () => {}
    }
  }

  subscribe(
    onChange: (gapMs?: number, areSkipped?: boolean) => void,
    onState: () => void,
  ): () => void {
    return this.#feed.subscribe(
      (events) => this.#take(events, onChange),
      () => {
        onState()
        this.#onRows()
      },
    )
  }

  /** Reads the list; its answer has what arrived before, or before the time of its age. */
  async read(
    load: () => Promise<ExecutionPage>,
    age: Pick<AnswerAge, 'ms'> = { ms: 0 },
  ): Promise<ExecutionPage> {
    const arrived = this.#arrived
    const begunAt = this.#now()
    const page = await load()
    this.#read = arrived.findLast(({ at }) => at <= begunAt - age.ms) ?? this.#read
    this.#revisions = new Map(
      page.executions.map(({ execution_id, revision = -1 }) => [execution_id, revision]),
    )
    return page
  }

  /** The row as it is now; undefined if it is gone. */
  readonly latest = (row: ExecutionRow): ExecutionRow | undefined => this.#changes.latest(row)

  /** Rows of a page as they are now; on the first page with those that have come to it. */
  rowsOf({ executions, limit, offset }: ExecutionPage): readonly ExecutionRow[] {
    const rows = executions.flatMap((row) => this.latest(row) ?? [])
    if (offset > 0) return rows
    const known = new Set(executions.map(({ execution_id }) => execution_id))
    const last = executions.length < limit ? undefined : executions.at(-1)
    const added = [...this.#changes.since(this.#read.number)].filter(
      (row) =>
        !known.has(row.execution_id) &&
        matches(row, this.#filter) === 'yes' &&
        (last === undefined || byAge(row, last) < 0),
    )
    return added.length === 0 ? rows : [...added, ...rows].sort(byAge).slice(0, limit)
  }

  #take(
    events: readonly ListEvent[],
    onChange: (gapMs: number, areSkipped: boolean) => void,
  ): void {
    const gaps = events.flatMap((event) => this.#gapAfter(event) ?? [])
    this.#noteArrival()
    if (gaps.length === 0) return
    onChange(Math.min(...gaps), areSkipped(events))
    this.#onRows()
  }

  #noteArrival(): void {
    const at = this.#now()
    const first = this.#arrived.findLastIndex((one) => one.at <= at - MAX_AGE_MS)
    const arrived = { at, number: this.#changes.number, skipped: this.#skipped }
    this.#arrived = [...this.#arrived.slice(Math.max(0, first)), arrived]
  }

  /** Milliseconds after which the list is read because of an event; undefined: the event changes nothing. */
  #gapAfter(event: ListEvent): number | undefined {
    if (event.topic !== 'executions') return undefined
    if (event.kind === 'skipped') this.#skipped += event.rows
    if (event.kind !== 'row') return LIST.lostMs
    const row = event.row as ExecutionRow | null
    // The server repeats what may have been lost.
    const isRead = row !== null && (event.revision ?? 0) <= (this.#revisions.get(event.id) ?? -1)
    if (!this.#changes.take(event) || isRead) return undefined
    return row === null || matches(row, this.#filter) === 'unknown' ? LIST.lostMs : LIST.shownMs
  }
}

/** Order of the list: newest first. */
const byAge = (one: ExecutionRow, other: ExecutionRow): number =>
  Date.parse(other.created_at) - Date.parse(one.created_at) ||
  (one.execution_id < other.execution_id ? 1 : -1)
