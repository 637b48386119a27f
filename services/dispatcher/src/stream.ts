import type { ServerResponse } from 'node:http'
import { PING } from './domain/frame.ts'

/** Why a stream ended, for the log. */
export type Ending = 'left' | 'superseded' | 'evicted' | 'stopping' | 'stalled' | 'owes too much'

export interface StreamOptions {
  ping_ms: number
  /** How long the reader may take nothing while something waits for it. */
  stall_ms: number
}

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  Connection: 'keep-alive',
  'X-Accel-Buffering': 'no',
}
const CHUNK_BYTES = 65_536
/** A reader that owes this much gets no more work, only what it must hear. */
const DRAINED_BYTES = 1_048_576
const MAX_OWED_BYTES = 8 * 1_048_576

/**
 * Server-sent events to one worker, with a ping in each interval. What the socket does not take
 * waits here in pieces, so that a reader on a slow line is told from one that has stopped reading.
 */
export class WorkerStream {
  readonly #response: ServerResponse
  readonly #stallMs: number
  readonly #ping: NodeJS.Timeout
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #stall: NodeJS.Timeout | undefined
  #ended: Ending | undefined
  onEnd: (ending: Ending) => void = () => {}

  constructor(response: ServerResponse, { ping_ms, stall_ms }: StreamOptions) {
    this.#response = response
    this.#stallMs = stall_ms
    response.writeHead(200, HEADERS)
    response.write(': connected\n\n')
    response.on('drain', () => this.#drained())
    response.on('close', () => this.#finish('left'))
    this.#ping = setInterval(() => this.#beat(), ping_ms)
  }

  get drained(): boolean {
    return this.#owedBytes <= DRAINED_BYTES
  }

  /** Queues frames. A reader that owes too much already is closed instead. */
  send(...frames: string[]): void {
    if (this.#owedBytes > MAX_OWED_BYTES) this.#abort('owes too much')
    if (this.#ended) return
    for (const frame of frames) this.#push(Buffer.from(frame))
    this.#write()
  }

  /** Ends the stream after what was sent. A reader that stalls meanwhile is cut off. */
  end(ending: Ending): void {
    if (this.#ended) return
    this.#finish(ending)
    for (const chunk of this.#waiting.splice(0)) this.#response.write(chunk)
    this.#response.end()
    const impatience = setTimeout(() => this.#response.destroy(), this.#stallMs)
    this.#response.on('close', () => clearTimeout(impatience))
  }

  /** A reader that is behind on a large frame has bytes under way, and is not to be closed over a ping. */
  #beat(): void {
    if (this.#owedBytes <= MAX_OWED_BYTES) this.send(PING)
  }

  get #owedBytes(): number {
    return this.#waitingBytes + this.#response.writableLength
  }

  #push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
      this.#waiting.push(bytes.subarray(at, at + CHUNK_BYTES))
    this.#waitingBytes += bytes.length
  }

  #write(): void {
    while (this.#waiting.length > 0 && !this.#response.writableNeedDrain) {
      const chunk = this.#waiting.shift()
      if (!chunk) break
      this.#waitingBytes -= chunk.length
      this.#response.write(chunk)
    }
    if (this.#response.writableNeedDrain)
      this.#stall ??= setTimeout(() => this.#abort('stalled'), this.#stallMs)
  }

  #drained(): void {
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#write()
  }

  #abort(ending: Ending): void {
    this.#finish(ending)
    this.#response.destroy()
  }

  #finish(ending: Ending): void {
    if (this.#ended) return
    this.#ended = ending
    clearInterval(this.#ping)
    clearTimeout(this.#stall)
    this.onEnd(ending)
  }
}
