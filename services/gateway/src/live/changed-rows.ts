import type { ChangedIds } from './changed-executions.ts'
import { type ListRow, type ListSource, type ListUpdate, MAX_ROWS } from './list-feed.ts'

export interface ChangedRow extends ListRow {
  revision: number
  created_at: Date
  /** False if the execution is not, or no longer, in the list. */
  matches: boolean
}

/** Changed executions as a service lists them. */
export interface ChangesPage {
  rows: readonly ChangedRow[]
  total: number
  /** True if others may have changed that were not read. */
  cut: boolean
  as_of: Date | undefined
}

/** Executions with these ids, or all that changed since a time. */
export type ListChanges = (request: {
  ids: readonly string[]
  since?: Date
  limit: number
}) => Promise<ChangesPage>

/**
 * Rows of a round while more than MAX_ROWS change: a reader cannot follow those row by row and reads its list again, so
 * the most recent ones are enough. With 50 readers and 400 changes/s this and shared bytes halve the processor time.
 */
const FEW_ROWS = 20
/** Interval of reads by time, while signals arrive and while some may be missed. */
const POLL_MS = 10_000
const POLL_WITHOUT_SIGNALS_MS = 2_000
/** Reads by time overlap, because a transaction may commit after the read with a time before it. */
const OVERLAP_MS = 15_000
/** Maximum number of rows in a read by time. */
const MAX_POLLED = 1_000
/** A reader that was away for longer reads its list again. */
const MAX_AWAY_MS = 3_600_000
/** Maximum number of executions whose last sent revision is kept. */
const MAX_SENT = 2_000

/** Changes of the executions that match a filter. */
export class ChangedRows implements ListSource {
  readonly #list: ListChanges
  readonly #now: () => number
  /** The last row of each execution that was sent, in the order in which they were sent. */
  readonly #sent = new Map<string, Pick<ChangedRow, 'revision' | 'matches'>>()
  #haveForgotten = false
  #openedAt: Date | undefined
  #asOf: Date | undefined
  #polledMs = Number.NEGATIVE_INFINITY
  /** True: in the last round more than MAX_ROWS had changed. */
  #haveMany = false
  /** True: changes were missed since the last read by time. */
  #isBehind = false

  constructor(list: ListChanges, now: () => number = performance.now.bind(performance)) {
    this.#list = list
    this.#now = now
  }

  get cursor(): number | undefined {
    return this.#asOf && this.#asOf.getTime() - OVERLAP_MS
  }

  async open(): Promise<void> {
    this.#asOf = (await this.#list({ ids: [], limit: 1 })).as_of
    this.#openedAt = this.#asOf
    this.#polledMs = this.#now()
  }

  async read({ ids, areIncomplete }: ChangedIds): Promise<ListUpdate | undefined> {
    this.#isBehind ||= areIncomplete
    const isDue = this.#isPollDue()
    if (!isDue && ids.length === 0) return undefined
    const wasBehind = this.#isBehind
    this.#isBehind = true
    const named = ids.length > 0 ? [await this.#listNamed(ids)] : []
    const polled = isDue ? await this.#poll() : undefined
    this.#isBehind = wasBehind && !isDue
    const isLost = wasBehind && polled !== undefined && (polled.cut || polled.total > MAX_POLLED)
    return this.#updateOf(polled ? [...named, polled] : named, isLost)
  }

  /** Reads all rows, or a few if there are more than a round may have. */
  async #listNamed(ids: readonly string[]): Promise<ChangesPage> {
    const limit = this.#haveMany ? FEW_ROWS : MAX_ROWS
    const page = await this.#list({ ids, limit })
    this.#haveMany = page.total > MAX_ROWS
    const isWhole = this.#haveMany || page.total <= limit
    return isWhole ? page : this.#list({ ids, limit: MAX_ROWS })
  }

  async resume(cursor: number): Promise<ListUpdate | undefined> {
    const since = new Date(cursor)
    const awayMs = (this.#asOf?.getTime() ?? Date.now()) - cursor
    if (awayMs > MAX_AWAY_MS) return undefined
    const page = await this.#list({ ids: [], since, limit: MAX_POLLED })
    if (page.cut || page.total > page.rows.length) return undefined
    return { rows: page.rows, skipped: 0, isLost: false, cursor: this.cursor }
  }

  #isPollDue(): boolean {
    return this.#now() - this.#polledMs >= (this.#isBehind ? POLL_WITHOUT_SIGNALS_MS : POLL_MS)
  }

  #poll(): Promise<ChangesPage> {
    this.#polledMs = this.#now()
    return this.#list({ ids: [], since: new Date(this.cursor ?? Date.now()), limit: MAX_POLLED })
  }

  #updateOf(pages: readonly ChangesPage[], isLost: boolean): ListUpdate | undefined {
    const fresh = new Map<string, ChangedRow>()
    for (const row of pages.flatMap((page) => page.rows))
      if (this.#isNews(row)) fresh.set(row.id, row)
    const rows = [...fresh.values()].slice(0, MAX_ROWS)
    for (const row of rows) this.#remember(row)
    this.#asOf = pages.at(-1)?.as_of ?? this.#asOf
    const beyond = pages.length === 1 ? (pages[0]?.total ?? 0) - (pages[0]?.rows.length ?? 0) : 0
    const skipped = fresh.size - rows.length + beyond
    if (rows.length + skipped === 0 && !isLost) return undefined
    return { rows, skipped, isLost, cursor: this.cursor }
  }

  /**
   * True if a reader does not know the row yet. A row that does not match is sent only if the reader may
   * have it in its list: because it was sent, or because it is older than this source.
   */
  #isNews({ id, revision, matches, created_at }: ChangedRow): boolean {
    const sent = this.#sent.get(id)
    if (sent) return sent.revision < revision && (matches || sent.matches)
    return matches || this.#haveForgotten || !this.#openedAt || created_at <= this.#openedAt
  }

  #remember({ id, revision, matches }: ChangedRow): void {
    this.#sent.delete(id)
    this.#sent.set(id, { revision, matches })
    for (const [oldest, row] of this.#sent) {
      if (this.#sent.size <= MAX_SENT) return
      this.#haveForgotten ||= row.matches
      this.#sent.delete(oldest)
    }
  }
}
