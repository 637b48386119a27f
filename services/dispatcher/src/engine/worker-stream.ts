import type { ServerResponse } from 'node:http'
import { PING } from '../domain/frame.ts'
import { streamEnds } from '../metrics.ts'

/** Reason for the end of a stream, for the log. */
export type EndReason =
  | 'disconnected'
  | 'superseded'
  | 'evicted'
  | 'stopping'
  | 'gateway_stopping'
  | 'stalled'
  | 'buffer_overflow'

type OnEnd = (reason: EndReason) => void

export interface StreamOptions {
  ping_ms: number
  /** Maximum time without progress while bytes are buffered. */
  stall_ms: number
}

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  Connection: 'keep-alive',
  'X-Accel-Buffering': 'no',
}
/** Trailer with the reason for the end, for the gateway: it moves the stream of a dispatcher that stops. */
const END_TRAILER = 'X-Windlass-End'
const CONNECTED = ': connected\n\n'
const CHUNK_BYTES = 65_536
/** High-water mark: above it the worker is offered no work; cancels and pings are still sent. */
const HIGH_WATER_BYTES = 1_048_576
/** Above it the next frame closes the stream. */
const MAX_BUFFERED_BYTES = 8 * 1_048_576

/**
 * Event stream (server-sent events) to one worker, with a ping in each interval. Frames that the socket
 * does not accept are buffered in pieces: each `drain` shows that the reader makes progress, which
 * distinguishes a slow connection from a reader that has stopped. connected-workers.ts has the limits.
 */
export class WorkerStream {
  readonly #response: ServerResponse
  readonly #stallMs: number
  readonly #pingTimer: NodeJS.Timeout
  #unsent: Buffer[] = []
  #unsentBytes = 0
  #pushedBytes = CONNECTED.length
  /** Bytes that the gateway is known to have passed on; undefined before its first acknowledgement. */
  deliveredBytes: number | undefined
  #stallTimer: NodeJS.Timeout | undefined
  #endReason: EndReason | undefined
  readonly #onEnd: OnEnd

  constructor(response: ServerResponse, { ping_ms, stall_ms }: StreamOptions, onEnd: OnEnd) {
    this.#response = response
    this.#stallMs = stall_ms
    this.#onEnd = onEnd
    response.writeHead(200, HEADERS)
    response.write(CONNECTED)
    response.on('drain', () => this.#onDrain())
    response.on('close', () => this.#finish('disconnected'))
    this.#pingTimer = setInterval(() => this.#sendPing(), ping_ms)
  }

  /** True if the next frame would close the stream. */
  get isFull(): boolean {
    return this.bufferedBytes > MAX_BUFFERED_BYTES
  }

  get hasEnded(): boolean {
    return this.#endReason !== undefined
  }

  /** All bytes so far, sent or buffered. */
  get pushedBytes(): number {
    return this.#pushedBytes
  }

  /** Bytes that the socket has not accepted yet. */
  get bufferedBytes(): number {
    return this.#unsentBytes + this.#response.writableLength
  }

  get isWritable(): boolean {
    return this.bufferedBytes <= HIGH_WATER_BYTES
  }

  /** Sends frames, or closes the stream if MAX_BUFFERED_BYTES are already buffered. */
  send(...frames: string[]): void {
    if (this.bufferedBytes > MAX_BUFFERED_BYTES) this.#abort('buffer_overflow')
    if (this.#endReason) return
    for (const frame of frames) this.#push(Buffer.from(frame))
    this.#write()
  }

  /**
   * Ends the stream after everything that is buffered; destroys the socket if the reader stalls in the
   * meantime.
   */
  end(reason: EndReason): void {
    if (this.#endReason) return
    this.#finish(reason)
    for (const chunk of this.#unsent.splice(0)) this.#response.write(chunk)
    this.#response.addTrailers({ [END_TRAILER]: reason })
    this.#response.end()
    const forceCloseTimer = setTimeout(() => this.#response.destroy(), this.#stallMs)
    this.#response.on('close', () => clearTimeout(forceCloseTimer))
  }

  /** Omits the ping while a large frame is being read: a ping must not close the stream. */
  #sendPing(): void {
    if (this.bufferedBytes <= MAX_BUFFERED_BYTES) this.send(PING)
  }

  #push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
      this.#unsent.push(bytes.subarray(at, at + CHUNK_BYTES))
    this.#unsentBytes += bytes.length
    this.#pushedBytes += bytes.length
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
    streamEnds.add(1, { reason })
    clearInterval(this.#pingTimer)
    clearTimeout(this.#stallTimer)
    this.#onEnd(reason)
  }
}
