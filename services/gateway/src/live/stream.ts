import type { Execution, LogEntry } from '@windlass/proto/windlass/executions/v1/executions'
import type { ProgressItem } from '@windlass/proto/windlass/signals/v1/signals'
import { closes, closingFrame, frameOf, progressFrame, stateAfter } from '../domain/frames.ts'
import { isFinal } from '../domain/states.ts'
import type { Exchange } from '../http/exchange.ts'
import { SseStream } from '../http/sse.ts'
import { Written } from '../reply.ts'
import { follow, type Reader } from './follow.ts'
import type { Live } from './settle.ts'

interface Wanted {
  execution_id: string
  /** The log entry after which the stream begins. */
  afterSeq: number
  /** The closing frame carries the whole context. */
  detailed: boolean
}

/** The events of an execution as an event stream: what is in the log, then what comes, until it is over. */
export const eventStream = (live: Live, wanted: Wanted): Written =>
  new Written(async (x) => {
    const { signal } = x
    const sse = new SseStream(x)
    const reader = new FrameWriter(live, wanted, sse)
    const { execution_id, afterSeq } = wanted
    try {
      await follow(live, { execution_id, afterSeq, reader, signal })
    } finally {
      sse.end()
    }
  })

/** Where a reader that was cut off goes on; a value that is none of ours counts for nothing. */
export function lastEventId(x: Exchange): number {
  const value = x.header('last-event-id') ?? ''
  return /^\d{1,15}$/.test(value) ? Number(value) : 0
}

class FrameWriter implements Reader {
  readonly #live: Live
  readonly #wanted: Wanted
  readonly #sse: SseStream
  #seq: number
  #state: string

  constructor(live: Live, wanted: Wanted, sse: SseStream) {
    this.#live = live
    this.#wanted = wanted
    this.#sse = sse
    this.#seq = wanted.afterSeq
    this.#state = wanted.afterSeq === 0 ? 'SCHEDULED' : 'RUNNING'
  }

  async replay(entries: readonly LogEntry[], execution: Execution): Promise<void> {
    for (const entry of entries) {
      await this.#write(entry, () => execution)
      await this.#sse.drained()
    }
  }

  async entries(entries: readonly LogEntry[], state: string): Promise<void> {
    const { executions } = this.#live
    const row = isFinal(state) ? () => executions.get(this.#wanted.execution_id) : undefined
    for (const entry of entries) await this.#write(entry, row)
  }

  progress(items: readonly ProgressItem[]): void {
    const { execution_id } = this.#wanted
    const place = { execution_id, state: this.#state, seq: this.#seq }
    this.#sse.send(items.map((item) => progressFrame(place, item)).join(''))
  }

  async #write(entry: LogEntry, row?: () => Promise<Execution> | Execution): Promise<void> {
    const { execution_id } = this.#wanted
    this.#state = stateAfter(this.#state, entry.type)
    this.#seq = entry.seq
    const execution = row && closes(entry) ? await row() : undefined
    const frame =
      execution && isFinal(execution.state)
        ? closingFrame(execution, entry, await this.#wholeLog())
        : frameOf(execution_id, this.#state, entry)
    if (frame) this.#sse.send(frame)
  }

  async #wholeLog(): Promise<LogEntry[] | undefined> {
    const { execution_id, detailed } = this.#wanted
    return detailed ? (await this.#live.executions.withLog(execution_id)).log : undefined
  }
}
