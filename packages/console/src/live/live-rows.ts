import type { ExecutionPage, ExecutionRow } from '../api/executions.ts'
import type { ListEvent } from './list-event.ts'
import type { LiveSource } from './live-source.ts'
import { type Filter, matches } from './matches.ts'
import { RowChanges } from './row-changes.ts'
import type { SharedFeed } from './shared-feed.ts'

/** The list is read again: because of changes that were not sent as rows, and for its total. */
const SOON_MS = 2_000
const LATER_MS = 10_000

/** A list of executions whose rows change by events between two reads. */
export class LiveRows implements LiveSource {
  readonly #feed: Pick<SharedFeed, 'isLive' | 'subscribe'>
  readonly #filter: Filter
  readonly #changes = new RowChanges()
  /** Rows of events up to this one are in the page that was read, if they match. */
  #readUpTo = 0
  /** Revisions of the rows that were read. */
  #revisions = new Map<string, number>()
  #skipped = 0
  #onRows = () => {}

  constructor(feed: Pick<SharedFeed, 'isLive' | 'subscribe'>, filter: Filter) {
    this.#feed = feed
    this.#filter = filter
  }

  get isLive(): boolean {
    return this.#feed.isLive
  }

  /** Changes since the last read that were too many to be sent. */
  get skipped(): number {
    return this.#skipped
  }

  /** Calls back when rows have changed. */
  watch(onRows: () => void): () => void {
    this.#onRows = onRows
    return () => {
      this.#onRows = () => {}
    }
  }

  subscribe(onChange: (gapMs?: number) => void, onState: () => void): () => void {
    return this.#feed.subscribe(
      (events) => this.#take(events, onChange),
      () => {
        onState()
        this.#onRows()
      },
    )
  }

  /** Reads the list; its answer has what arrived before. */
  async read(load: () => Promise<ExecutionPage>): Promise<ExecutionPage> {
    const upTo = this.#changes.number
    const skipped = this.#skipped
    const page = await load()
    this.#readUpTo = upTo
    this.#skipped -= skipped
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
    const added = [...this.#changes.since(this.#readUpTo)].filter(
      (row) =>
        !known.has(row.execution_id) &&
        matches(row, this.#filter) === 'yes' &&
        (last === undefined || byAge(row, last) < 0),
    )
    return added.length === 0 ? rows : [...added, ...rows].sort(byAge).slice(0, limit)
  }

  #take(events: readonly ListEvent[], onChange: (gapMs: number) => void): void {
    const gaps = events.flatMap((event) => this.#gapAfter(event) ?? [])
    if (gaps.length === 0) return
    onChange(Math.min(...gaps))
    this.#onRows()
  }

  /** Milliseconds after which the list is read because of an event; undefined: the event changes nothing. */
  #gapAfter(event: ListEvent): number | undefined {
    if (event.topic !== 'executions') return undefined
    if (event.kind === 'skipped') this.#skipped += event.rows
    if (event.kind !== 'row') return SOON_MS
    const row = event.row as ExecutionRow | null
    // The server repeats what may have been lost.
    const isRead = row !== null && (event.revision ?? 0) <= (this.#revisions.get(event.id) ?? -1)
    if (!this.#changes.take(event) || isRead) return undefined
    return row === null || matches(row, this.#filter) === 'unknown' ? SOON_MS : LATER_MS
  }
}

/** Order of the list: newest first. */
const byAge = (one: ExecutionRow, other: ExecutionRow): number =>
  Date.parse(other.created_at) - Date.parse(one.created_at) ||
  (one.execution_id < other.execution_id ? 1 : -1)
