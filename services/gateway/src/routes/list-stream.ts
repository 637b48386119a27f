import { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import { type FollowedLists, TOPICS, type Topic } from '../access/followed-lists.ts'
import { principalKey, type Quotas } from '../access/quotas.ts'
import type { ReadTurns } from '../access/read-turns.ts'
import { frame } from '../domain/frames.ts'
import { listFrames } from '../domain/list-frames.ts'
import { isRefusal } from '../http/is-refusal.ts'
import type { RequestContext } from '../http/request-context.ts'
import { SseStream } from '../http/sse.ts'
import { lastEventId } from '../live/event-stream.ts'
import type { ListFeed, ListUpdate } from '../live/list-feed.ts'
import { text } from '../route/fields.ts'
import { EventStream } from '../route/media.ts'
import { StreamedResponse } from '../route/reply.ts'
import { route } from '../route/route.ts'
import { filterSearch, readFilters } from './filter-search.ts'
import { type SourceDeps, type SourceSpec, sourcesOf } from './list-sources.ts'
import type { Search } from './search-query.ts'

type Deps = SourceDeps & { listFeed: ListFeed; quotas: Quotas; readTurns: ReadTurns }

const topics = z
  .string()
  .transform((given) => [...new Set(given.split(',').map((topic) => topic.trim()))])
  .pipe(z.array(z.enum(TOPICS)))
  .prefault('executions')
  .meta({ wire: { type: 'string', examples: ['executions,workers'] } })

export const followLists = route('get', '/events/stream', {
  summary: 'Follow lists: rows of executions, workers, schedules and approvals as they change',
  access: 'may follow lists',
  query: {
    /** `executions`, `workers`, `schedules`, `approvals`, or several of them, separated by commas. */
    topics,
    /** Filters of GET /executions as a query of their own; of the topic `executions`. */
    filter: text(4_096)
      .default('')
      .meta({ examples: ['state=failed&workflow_name=order'] }),
  },
  returns: EventStream,
  async handle(input, deps: Deps) {
    const { query, caller, ctx } = input
    const search = filterSearch('query', () => readFilters(query.filter.replace(/^\?/, '')))
    const release = deps.quotas.takeStream(caller)
    const listsNow = () => input.resolved
    const reader = new ListReader({ ctx, deps, search, caller, listsNow })
    try {
      await reader.follow(lastEventId(ctx))
    } catch (error) {
      reader.leave()
      release()
      throw error
    }
    return new StreamedResponse(() => reader.run().finally(release))
  },
})

interface ReaderOptions {
  ctx: RequestContext
  deps: Deps
  search: Search
  caller: Caller
  /** Lists that the caller may see, as of its last check. */
  listsNow: () => FollowedLists
}

/** One reader of lists. */
class ListReader {
  readonly #options: ReaderOptions
  #sse: SseStream | undefined
  /** Frames that were produced before the response began. */
  #first: (string | Buffer)[] = []
  #lists: FollowedLists
  #leave: (() => void)[] = []
  /** Number of rows, by topic, for which the reader was too slow. */
  readonly #dropped = new Map<Topic, number>()
  #cursor = 0

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#lists = options.listsNow()
  }

  /** Sends changes until the reader leaves or is no longer authorized. */
  async run(): Promise<void> {
    const { ctx } = this.#options
    const { signal } = ctx
    this.#sse = new SseStream(ctx)
    for (const frames of this.#first.splice(0)) this.#sse.send(frames)
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    this.leave()
    const { reason } = signal
    if (isRefusal(reason))
      this.#write(frame(this.#cursor, 'access_denied', JSON.stringify({ detail: reason.message })))
    this.#sse.end()
  }

  /** Joins the sources of all lists, resumes after a cursor, and reports what is followed. */
  async follow(cursor: number): Promise<void> {
    const { deps, search } = this.#options
    const specs = sourcesOf(deps, this.#lists, search)
    const updates = await Promise.all(specs.map((spec) => this.#join(spec, cursor)))
    const topics = specs.map(({ topic }) => topic)
    this.#write(frame(this.#cursor, 'ready', JSON.stringify({ topics })))
    for (const [i, { topic }] of specs.entries()) {
      const update = updates[i]
      if (update) this.#send(topic, update)
    }
  }

  leave(): void {
    for (const leave of this.#leave.splice(0)) leave()
  }

  /** Returns what the reader missed while it was away. */
  async #join({ topic, key, create }: SourceSpec, cursor: number): Promise<ListUpdate | undefined> {
    const receive = (update: ListUpdate) => this.#receive(topic, update)
    const { deps, caller } = this.#options
    const principal = caller.permissions.kind === 'all' ? undefined : principalKey(caller)
    const { source, leave } = await deps.listFeed.join({ key, principal, create, receive })
    this.#leave.push(leave)
    if (this.#options.ctx.signal.aborted) this.leave()
    this.#cursor = source.cursor ?? this.#cursor
    if (cursor === 0) return undefined
    // What a reader missed is read for it alone, and may be up to an hour of changes.
    const resume = () => source.resume(cursor)
    return (await deps.readTurns.run({ isExpensive: true }, caller, resume)) ?? LOST
  }

  #receive(topic: Topic, update: ListUpdate): void {
    const lists = this.#options.listsNow()
    if (lists === this.#lists) this.#send(topic, update)
    else this.#changeRights(lists, { topic, update })
  }

  /** Joins other sources if the caller now sees something else; it must then read its lists again. */
  #changeRights(lists: FollowedLists, { topic, update }: { topic: Topic; update: ListUpdate }) {
    const { deps, search } = this.#options
    const keysOf = (of: FollowedLists) => sourcesOf(deps, of, search).map(({ key }) => key)
    const isSame = keysOf(lists).join('\n') === keysOf(this.#lists).join('\n')
    this.#lists = lists
    if (isSame) return this.#send(topic, update)
    this.leave()
    // A failure cuts the stream off, so that the reader connects again.
    this.follow(0).then(
      () => {
        for (const each of sourcesOf(deps, lists, search)) this.#send(each.topic, LOST)
      },
      () => this.#options.ctx.res.destroy(),
    )
  }

  #send(topic: Topic, update: ListUpdate): void {
    const dropped = this.#dropped.get(topic) ?? 0
    const skipped = update.skipped + dropped
    if (this.#sse?.isAboveHighWater) {
      this.#dropped.set(topic, skipped + update.rows.length)
      return
    }
    this.#dropped.delete(topic)
    const before = this.#cursor
    this.#cursor = update.cursor ?? before
    this.#write(framesOf({ topic, update, skipped, before, after: this.#cursor }))
  }

  #write(frames: string | Buffer): void {
    if (this.#sse) this.#sse.send(frames)
    else this.#first.push(frames)
  }
}

interface Sent {
  topic: Topic
  update: ListUpdate
  skipped: number
  before: number
  after: number
}

/** The bytes of each update as they were printed for the last reader: most readers get the same. */
const printed = new WeakMap<ListUpdate, { key: string; frames: Buffer }>()

function framesOf({ topic, update, skipped, before, after }: Sent): Buffer {
  const key = `${topic} ${skipped} ${before} ${after}`
  const known = printed.get(update)
  if (known?.key === key) return known.frames
  const frames = Buffer.from(listFrames(topic, { ...update, skipped }, { before, after }))
  printed.set(update, { key, frames })
  return frames
}

const LOST: ListUpdate = { rows: [], skipped: 0, isLost: true }
