import type { ServerResponse } from 'node:http'
import { PING } from './domain/frame.ts'

/** Why a stream ended, for the log. */
export type EndReason =
  | 'disconnected'
  | 'superseded'
  | 'evicted'
  | 'stopping'
  | 'stalled'
  | 'buffer_overflow'

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
const HIGH_WATER_BYTES = 1_048_576
const MAX_BUFFERED_BYTES = 8 * 1_048_576

/**
 * Server-sent events to one worker, with a ping in each interval. What the socket does not take
 * waits here in pieces, so that a reader on a slow line is told from one that has stopped reading.
 */
export class WorkerStream {
  readonly #response: ServerResponse
  readonly #stallMs: number
  readonly #pingTimer: NodeJS.Timeout
  #unsent: Buffer[] = []
  #unsentBytes = 0
  #stallTimer: NodeJS.Timeout | undefined
  #endReason: EndReason | undefined
  readonly #onEnd: (reason: EndReason) => void

  constructor(
    response: ServerResponse,
    { ping_ms, stall_ms }: StreamOptions,
    onEnd: (reason: EndReason) => void,
  ) {
    this.#response = response
    this.#stallMs = stall_ms
    this.#onEnd = onEnd
    response.writeHead(200, HEADERS)
    response.write(': connected\n\n')
    response.on('drain', () => this.#onDrain())
    response.on('close', () => this.#finish('disconnected'))
    this.#pingTimer = setInterval(() => this.#sendPing(), ping_ms)
  }

  get isWritable(): boolean {
    return this.#bufferedBytes <= HIGH_WATER_BYTES
  }

  /** Queues frames. A reader that owes too much already is closed instead. */
  send(...frames: string[]): void {
    if (this.#bufferedBytes > MAX_BUFFERED_BYTES) this.#abort('buffer_overflow')
    if (this.#endReason) return
    for (const frame of frames) this.#push(Buffer.from(frame))
    this.#write()
  }

  /** Ends the stream after what was sent. A reader that stalls meanwhile is cut off. */
  end(reason: EndReason): void {
    if (this.#endReason) return
    this.#finish(reason)
    for (const chunk of this.#unsent.splice(0)) this.#response.write(chunk)
    this.#response.end()
    const forceCloseTimer = setTimeout(() => this.#response.destroy(), this.#stallMs)
    this.#response.on('close', () => clearTimeout(forceCloseTimer))
  }

  /** A reader that is behind on a large frame has bytes under way, and is not to be closed over a ping. */
  #sendPing(): void {
    if (this.#bufferedBytes <= MAX_BUFFERED_BYTES) this.send(PING)
  }

  get #bufferedBytes(): number {
    return this.#unsentBytes + this.#response.writableLength
  }

  #push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
      this.#unsent.push(bytes.subarray(at, at + CHUNK_BYTES))
    this.#unsentBytes += bytes.length
  }

  #write(): void {
    while (this.#unsent.length > 0 && !this.#response.writableNeedDrain) {
      const chunk = this.#unsent.shift()
      if (!chunk) break
      this.#unsentBytes -= chunk.length
      this.#response.write(chunk)
    }
    if (this.#response.writableNeedDrain)
      this.#stallTimer ??= setTimeout(() => this.#abort('stalled'), this.#stallMs)
  }

  #onDrain(): void {
    clearTimeout(this.#stallTimer)
    this.#stallTimer = undefined
    this.#write()
  }

  #abort(reason: EndReason): void {
    this.#finish(reason)
    this.#response.destroy()
  }

  #finish(reason: EndReason): void {
    if (this.#endReason) return
    this.#endReason = reason
    clearInterval(this.#pingTimer)
    clearTimeout(this.#stallTimer)
    this.#onEnd(reason)
  }
}
