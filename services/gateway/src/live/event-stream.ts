import { isTerminal } from '@windlass/domain/states'
import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import type { ProgressItem } from '@windlass/proto/windlass/signals/v1/signals'
import { UnimplementedRpc } from '@windlass/rpc/to-fault'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Fault } from '@windlass/runtime/faults'
import type { Caller } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import {
  closes,
  closingFrame,
  frameOf,
  lineFrame,
  progressFrame,
  refusalFrame,
  stateAfter,
} from '../domain/frames.ts'
import { isRefusal } from '../http/is-refusal.ts'
import type { RequestContext } from '../http/request-context.ts'
import { SseStream } from '../http/sse.ts'
import { StreamedResponse } from '../route/reply.ts'
import { follow, type StreamSubscriber } from './follow.ts'
import type { LiveDeps } from './wait-until-settled.ts'
import { readWholeLog, type WholeLogDeps } from './whole-log.ts'

/** Number of characters that are sent before the next check of the buffer. */
const CHUNK_LENGTH = 65_536

export interface StreamRequest {
  execution_id: string
  /** The log entry after which the stream begins. */
  afterSeq: number
  /** The closing frame contains the whole context. */
  detailed: boolean
  /** Frame that is sent before the log is read. */
  first?: string
  /**
   * False for a reader that may not, or no longer, read the log: task frames then have no values, and the
   * closing frame has no log.
   */
  mayReadLog: () => boolean
  /** Position of the last captured line that the reader has; absent: it gets none. */
  linesAfter?: number | undefined
  caller: Caller
  /** Called when the stream has ended. */
  onEnd?: () => void
}

export interface EventStreamDeps extends LiveDeps, WholeLogDeps {
  capturedLines: Clients['capturedLines']
  settings: Settings
}

/** Streams the events of an execution: the log so far, then new entries, until the execution is terminal. */
export const eventStream = (live: EventStreamDeps, request: StreamRequest): StreamedResponse =>
  new StreamedResponse(async (ctx) => {
    const { signal } = ctx
    const pingMs = live.settings.workers.heartbeat_interval * 1_000
    const sse = new SseStream(ctx, { pingMs })
    sse.send(request.first ?? '')
    const wholeLog = () => readWholeLog(live, { caller: request.caller, ctx }, request.execution_id)
    const { countUnread } = ctx
    const subscriber = new FrameWriter(live, { ...request, wholeLog, countUnread }, sse)
    const { execution_id, afterSeq } = request
    // A stream that fails is cut off and not ended, so that the reader reconnects.
    await follow(live, { execution_id, afterSeq, subscriber, signal }).finally(request.onEnd)
    if (isRefusal(signal.reason)) subscriber.refuse(signal.reason)
    sse.end()
  })

/** Returns the sequence number from which a reader resumes; 0 for a value that is not one. */
export function lastEventId(ctx: RequestContext): number {
  const value = ctx.header('last-event-id') ?? ''
  return /^\d{1,15}$/.test(value) ? Number(value) : 0
}

interface WrittenStream extends StreamRequest {
  wholeLog: () => Promise<{ log: LogEntry[] }>
  countUnread: RequestContext['countUnread']
}

class FrameWriter implements StreamSubscriber {
  readonly #live: EventStreamDeps
  readonly #request: WrittenStream
  readonly #sse: SseStream
  #seq: number
  #state: string
  #line: number | undefined

  constructor(live: EventStreamDeps, request: WrittenStream, sse: SseStream) {
    this.#live = live
    this.#request = request
    this.#sse = sse
    this.#seq = request.afterSeq
    this.#line = request.linesAfter
    this.#state = request.afterSeq === 0 ? 'SCHEDULED' : 'RUNNING'
  }

  /** A page of the log stays in memory until it has been read, so it counts like a large answer. */
  async replay(entries: readonly LogEntry[], execution: Execution): Promise<void> {
    const { countUnread } = this.#request
    countUnread({ bytes: entries.reduce((sum, { value_json }) => sum + value_json.length, 0) })
    await this.#sendPage(entries, execution)
    countUnread({ bytes: 0 })
  }

  async #sendPage(entries: readonly LogEntry[], execution: Execution): Promise<void> {
    // The worker sends its lines before the end of the execution.
    if (entries.some(closes)) await this.lines()
    let frames = ''
    for (const entry of entries) {
      frames += await this.#frame(entry, () => execution)
      if (frames.length < CHUNK_LENGTH) continue
      this.#sse.send(frames)
      await this.#sse.waitUntilDrained()
      // However slowly it reads, a reader gets nothing more of a page that was read before its rights ended.
      if (this.#sse.isRefused) return
      frames = ''
    }
    this.#sse.send(frames)
    await this.#sse.waitUntilDrained()
  }

  async entries(entries: readonly LogEntry[], state: string): Promise<void> {
    if (entries.some(closes)) await this.lines()
    const { executions } = this.#live
    const row = isTerminal(state) ? () => executions.get(this.#request.execution_id) : undefined
    let frames = ''
    for (const entry of entries) frames += await this.#frame(entry, row)
    await this.#sse.waitUntilWritable()
    if (!this.#sse.isRefused) this.#sse.send(frames)
  }

  progress(items: readonly ProgressItem[]): void {
    if (this.#sse.isAboveHighWater) return
    const { execution_id } = this.#request
    const place = { execution_id, state: this.#state, seq: this.#seq }
    const hidden = this.#request.mayReadLog() ? {} : { value_json: NO_VALUE }
    this.#sse.send(items.map((item) => progressFrame(place, { ...item, ...hidden })).join(''))
  }

  async lines(): Promise<void> {
    const { execution_id } = this.#request
    while (this.#line !== undefined && !this.#sse.isRefused) {
      const page = await readLines(this.#live, execution_id, this.#line)
      const place = { execution_id, state: this.#state, seq: this.#seq }
      await this.#sse.waitUntilWritable()
      this.#sse.send(page.lines.map((line) => lineFrame(place, line)).join(''))
      this.#line = page.lines.at(-1)?.seq ?? this.#line
      if (!page.more) return
    }
  }

  /** Informs the reader why the stream ends before the execution does. */
  refuse({ message }: Fault): void {
    const { execution_id } = this.#request
    this.#sse.send(refusalFrame({ execution_id, state: this.#state, seq: this.#seq }, message))
  }

  async #frame(entry: LogEntry, row?: () => Promise<Execution> | Execution): Promise<string> {
    this.#state = stateAfter(this.#state, entry.type)
    this.#seq = entry.seq
    const execution = row && closes(entry) ? await row() : undefined
    if (execution && isTerminal(execution.state))
      return closingFrame(execution, entry, await this.#wholeLog())
    const { execution_id, mayReadLog } = this.#request
    return mayReadLog() || !entry.type.startsWith('TASK_')
      ? sharedFrame(execution_id, this.#state, entry)
      : (frameOf(execution_id, this.#state, { ...entry, value_json: NO_VALUE }) ?? '')
  }

  async #wholeLog(): Promise<LogEntry[] | undefined> {
    const { detailed, mayReadLog, wholeLog } = this.#request
    return detailed && mayReadLog() ? (await wholeLog()).log : undefined
  }
}

const LINES_PAGE = 200

/** Reads the lines after a position; none while a replica of an earlier release does not know them. */
async function readLines({ capturedLines }: EventStreamDeps, execution_id: string, after: number) {
  try {
    return await capturedLines.read({ execution_id, after, limit: LINES_PAGE, min_level: 0 })
  } catch (error) {
    if (!(error instanceof UnimplementedRpc)) throw error
    return { lines: [], more: false }
  }
}

const NO_VALUE = 'null'

const rendered = new WeakMap<LogEntry, { state: string; frame: string }>()

/** Readers in this process share each entry, so its frame is built once. */
function sharedFrame(execution_id: string, state: string, entry: LogEntry): string {
  const known = rendered.get(entry)
  if (known?.state === state) return known.frame
  const frame = frameOf(execution_id, state, entry) ?? ''
  rendered.set(entry, { state, frame })
  return frame
}
