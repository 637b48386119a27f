/*
 * Changes of lists, for readers that show them.
 *
 * A source reads one list for a filter and what a caller may see of it. Readers with equal filters and
 * rights share a source, so fifty consoles that show the same list cost one read per round. In each round
 * the ids of changed executions are taken once and given to all sources; a source answers with the rows
 * that changed. Rows are coalesced by that: several changes of one execution in a round are one row. A source
 * whose last read has not ended keeps the ids for its next one, and delays no other (source-reads.ts).
 *
 * Signals may be lost, so sources also read by time (routes/list-sources.ts). A source that fails is asked
 * again in the next round, and must then find what it missed.
 */
import { unavailable } from '@windlass/runtime/faults'
import type { Bus } from '@windlass/runtime/nats/bus'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import { ChangedExecutions, type ChangedIds, joinChanges } from './changed-executions.ts'
import { SourceReads } from './source-reads.ts'

const ROUND_MS = 500
/** Maximum number of rows of one source in a second, and in a round. */
const MAX_ROWS_PER_SECOND = 200
export const MAX_ROWS = (MAX_ROWS_PER_SECOND * ROUND_MS) / 1_000
/** Maximum number of sources of one process. */
const MAX_SOURCES = 500
/**
 * Maximum number of sources of one principal: a tenth, so that one with many filters does not exclude the
 * others.
 */
const MAX_SOURCES_OF_PRINCIPAL = 50

export interface ListRow {
  id: string
  /** Grows with every change; null for lists whose objects have none. */
  revision: number | null
  /** JSON text of the row as its list has it; `null` if it is no longer in the list. */
  row_json: string
}

export interface ListUpdate {
  rows: readonly ListRow[]
  /** Number of changed rows that are left out because there were too many. */
  skipped: number
  /** The reader must read its list again. */
  isLost: boolean
  /** Position from which a reader resumes; absent: the same as before. */
  cursor?: number | undefined
}

export interface ListSource {
  /** Reads the current position of the list; the first round follows. */
  open(): Promise<void>
  /** Returns the changes since the last round; undefined if there are none. */
  read(changed: ChangedIds): Promise<ListUpdate | undefined>
  /** Returns the changes since a cursor; undefined if they are not known. */
  resume(cursor: number): Promise<ListUpdate | undefined>
  /** Cursor at the last read. */
  readonly cursor: number | undefined
}

export type Receive = (update: ListUpdate) => void

/** A reader of the source with this `key`, which `create` creates if there is none. */
export interface Reader {
  key: string
  /** Principal whose sources are counted; undefined while authentication is off. */
  principal: string | undefined
  create: () => ListSource
  receive: Receive
}

interface SharedSource {
  source: ListSource
  /** Principal of the reader that opened it. */
  principal: string | undefined
  /** Changes since its last read began. */
  changed: ChangedIds | undefined
  opened: Promise<void>
  isOpen: boolean
  readers: Set<Receive>
}

interface FeedDeps {
  bus: Bus
  log: Logger
}

/** Sources of lists with their readers. */
export class ListFeed {
  readonly #log: Logger
  readonly #changed: ChangedExecutions
  readonly #sources = new Map<string, SharedSource>()
  readonly #readers = new ReadersOfPrincipals()
  readonly #reads = new SourceReads<SharedSource>((shared) => this.#read(shared))
  readonly #loop: Loop

  constructor({ bus, log }: FeedDeps) {
    this.#log = log
    this.#changed = new ChangedExecutions(bus)
    this.#loop = loop({ name: 'lists', pauseMs: ROUND_MS, log }, () => this.#round())
  }

  /**
   * Adds a reader. Resolves when no later change can be missed, to the source and a function that leaves
   * it. Throws `unavailable` if the principal, or all principals together, follow too many lists.
   */
  async join({
    key,
    principal,
    create,
    receive,
  }: Reader): Promise<{ source: ListSource; leave: () => void }> {
    const release = principal === undefined ? () => {} : this.#readers.take(principal, key)
    try {
      const shared = this.#sources.get(key) ?? this.#open(key, principal, create())
      shared.readers.add(receive)
      const leave = () => {
        release()
        shared.readers.delete(receive)
        if (shared.readers.size === 0 && this.#sources.get(key) === shared)
          this.#sources.delete(key)
      }
      await shared.opened.catch((error) => {
        leave()
        throw error
      })
      return { source: shared.source, leave }
    } catch (error) {
      release()
      throw error
    }
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    await this.#reads.stop()
  }

  #open(key: string, principal: string | undefined, source: ListSource): SharedSource {
    if (this.#sources.size >= MAX_SOURCES)
      throw unavailable(`this gateway follows ${MAX_SOURCES} different lists already; retry later`)
    const opened = this.#changed.use(true).then(() => source.open())
    const shared: SharedSource = {
      ...{ source, principal, changed: undefined, opened },
      ...{ isOpen: false, readers: new Set() },
    }
    opened.then(
      () => {
        shared.isOpen = true
      },
      // The readers that wait for it get the error.
      () => {},
    )
    this.#sources.set(key, shared)
    return shared
  }

  async #round(): Promise<void> {
    if (this.#sources.size === 0) return this.#changed.use(false)
    const changed = this.#changed.take()
    for (const shared of this.#sources.values()) {
      if (!shared.isOpen) continue
      shared.changed = joinChanges(shared.changed, changed)
      this.#reads.add(shared)
    }
  }

  async #read(shared: SharedSource): Promise<void> {
    const { source, readers, changed = NO_CHANGES } = shared
    shared.changed = undefined
    if (readers.size === 0) return
    try {
      const update = await source.read(changed)
      if (update) for (const receive of readers) receive(update)
    } catch (error) {
      this.#log.warn({ err: error }, 'failed to read changes of a list')
    }
  }
}

const NO_CHANGES: ChangedIds = { ids: [], areIncomplete: false }

/** Counts the readers that a principal has at each source. */
class ReadersOfPrincipals {
  readonly #counts = new Map<string, Map<string, number>>()

  /**
   * Throws `unavailable` if this is one source too many. Returns the function that releases it; further
   * calls have no effect.
   */
  take(principal: string, key: string): () => void {
    const counts = this.#counts.get(principal) ?? new Map<string, number>()
    const count = counts.get(key) ?? 0
    if (count === 0 && counts.size >= MAX_SOURCES_OF_PRINCIPAL)
      throw unavailable(
        `you follow ${MAX_SOURCES_OF_PRINCIPAL} different lists already; retry later`,
      )
    this.#counts.set(principal, counts.set(key, count + 1))
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      const left = (counts.get(key) ?? 0) - 1
      if (left > 0) counts.set(key, left)
      else counts.delete(key)
      if (counts.size === 0) this.#counts.delete(principal)
    }
  }
}
