import { type ChangedIds, joinChanges } from './changed-executions.ts'
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
 * While more than MAX_ROWS change in each round, a reader cannot follow them row by row and reads its list again, so the
 * most recent ones are enough: so many, once in so many rounds.
 */
const FEW_ROWS = 20
const ROUNDS_OF_FEW = 2
/** Executions of a round that can wait for those of the next one: together not more than are kept. */
const MAX_WAITING = 500
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

interface Options {
  /** All executions are in the list: it has no filter, and the caller may read all. */
  isWhole?: boolean
  now?: () => number
}

/** Changes of the executions that match a filter. */
export class ChangedRows implements ListSource {
  readonly #list: ListChanges
  readonly #now: () => number
  /** True if all executions are in the list. */
  readonly #isWhole: boolean
  /** The last row of each execution that was sent, in the order in which they were sent. */
  readonly #sent = new Map<string, Pick<ChangedRow, 'revision' | 'matches'>>()
  #haveForgotten = false
  #openedAt: Date | undefined
  #asOf: Date | undefined
  #polledMs = Number.NEGATIVE_INFINITY
  /** True: when executions were last listed, more than MAX_ROWS had changed in each round. */
  #haveMany = false
  /** Changes of rounds in which nothing was read, and the number of rounds since the last read. */
  #waiting: ChangedIds | undefined
  #rounds = 0
  /** True: changes were missed since the last read by time. */
  #isBehind = false

  constructor(
    list: ListChanges,
    { isWhole = false, now = performance.now.bind(performance) }: Options = {},
  ) {
    this.#list = list
    this.#isWhole = isWhole
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

  async read(changed: ChangedIds): Promise<ListUpdate | undefined> {
    const joined = joinChanges(this.#waiting, changed)
    const { ids, areIncomplete } = joined
    this.#rounds++
    this.#isBehind ||= areIncomplete
    if (this.#canWait(changed)) {
      this.#waiting = joined
      return undefined
    }
    const most = MAX_ROWS * this.#rounds
    this.#waiting = undefined
    this.#rounds = 0
    if (ids.length === 0) this.#haveMany = false
    const isDue = this.#isPollDue()
    if (!isDue && ids.length === 0) return undefined
    const wasBehind = this.#isBehind
    this.#isBehind = true
    const named = ids.length > 0 ? [await this.#listNamed(ids, most)] : []
    const polled = isDue ? await this.#poll() : undefined
    this.#isBehind = wasBehind && !isDue
    const isLost = wasBehind && polled !== undefined && (polled.cut || polled.total > MAX_POLLED)
    return this.#updateOf(polled ? [...named, polled] : named, most, isLost)
  }

  /** True if the changes of a round may be listed with those of the next one. */
  #canWait({ ids }: ChangedIds): boolean {
    const isMany = ids.length > MAX_ROWS && ids.length <= MAX_WAITING
    return this.#haveMany && isMany && this.#rounds < ROUNDS_OF_FEW
  }

  /** Lists the changed rows, or a few of them if there are more than `most`. */
  async #listNamed(ids: readonly string[], most: number): Promise<ChangesPage> {
    if (this.#haveMany && this.#isWhole && ids.length > most) {
      const page = await this.#list({ ids: ids.slice(-FEW_ROWS), limit: FEW_ROWS })
      // All of the others are in the list, too.
      return { ...page, total: page.total + ids.length - FEW_ROWS }
    }
    const limit = this.#haveMany ? FEW_ROWS : most
    const page = await this.#list({ ids, limit })
    this.#haveMany = page.total > most
    const isEnough = this.#haveMany || page.total <= limit
    return isEnough ? page : this.#list({ ids, limit: most })
  }

  async resume(cursor: number): Promise<ListUpdate | undefined> {
    const since = new Date(cursor)
    const awayMs = (this.#asOf?.getTime() ?? Date.now()) - cursor
    if (awayMs > MAX_AWAY_MS) return undefined
    const page = await this.#list({ ids: [], since, limit: MAX_POLLED })
    if (page.cut || page.total > page.rows.length) return undefined
    return { rows: page.rows, skipped: 0, isLost: false, cursor: this.cursor }
  }

  /** False while each read reports skipped rows, since readers then read their lists anyway. */
  #isPollDue(): boolean {
    if (this.#haveMany) return false
    return this.#now() - this.#polledMs >= (this.#isBehind ? POLL_WITHOUT_SIGNALS_MS : POLL_MS)
  }

  #poll(): Promise<ChangesPage> {
    this.#polledMs = this.#now()
    return this.#list({ ids: [], since: new Date(this.cursor ?? Date.now()), limit: MAX_POLLED })
  }

  #updateOf(pages: readonly ChangesPage[], most: number, isLost: boolean): ListUpdate | undefined {
    const fresh = new Map<string, ChangedRow>()
    for (const row of pages.flatMap((page) => page.rows))
      if (this.#isNews(row)) fresh.set(row.id, row)
    const rows = [...fresh.values()].slice(0, most)
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
