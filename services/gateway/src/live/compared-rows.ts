import { type ListRow, type ListSource, type ListUpdate, MAX_ROWS } from './list-feed.ts'

/** Interval at which a list is read. */
const READ_MS = 2_000

/** Changes of a short list, found by reading it and comparing each row with the previous read. */
export class ComparedRows implements ListSource {
  readonly #list: () => Promise<ReadonlyMap<string, string>>
  readonly #now: () => number
  #known: ReadonlyMap<string, string> = new Map()
  #readMs = Number.NEGATIVE_INFINITY
  readonly cursor = undefined

  /** `list` returns the JSON text of each row by its id. */
  constructor(
    list: () => Promise<ReadonlyMap<string, string>>,
    now: () => number = performance.now.bind(performance),
  ) {
    this.#list = list
    this.#now = now
  }

  async open(): Promise<void> {
    this.#known = await this.#list()
    this.#readMs = this.#now()
  }

  async read(): Promise<ListUpdate | undefined> {
    if (this.#now() - this.#readMs < READ_MS) return undefined
    this.#readMs = this.#now()
    const found = await this.#list()
    const changed: ListRow[] = []
    for (const [id, row_json] of found)
      if (this.#known.get(id) !== row_json) changed.push({ id, revision: null, row_json })
    for (const id of this.#known.keys())
      if (!found.has(id)) changed.push({ id, revision: null, row_json: 'null' })
    this.#known = found
    if (changed.length === 0) return undefined
    const rows = changed.slice(0, MAX_ROWS)
    return { rows, skipped: changed.length - rows.length, isLost: false }
  }

  /** The list is short: a reader that was away reads it again. */
  async resume(): Promise<undefined> {}
}
