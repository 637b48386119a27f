import type { IncomingMessage } from 'node:http'
import type { RequestContext } from '../http/request-context.ts'
import type { AcknowledgedStream } from './dispatcher-watch.ts'

/** Response headers of the dispatcher that are forwarded to the worker. */
const FORWARDED_HEADERS = [
  'content-type',
  'cache-control',
  'x-accel-buffering',
  'retry-after',
] as const
const GENERATION_HEADER = 'x-windlass-connection-generation'
const FRAME_END = '\n\n'
/**
 * Comments that the worker gets before frames that may be outdated, and before those that are current again
 * (docs/worker-protocol.md).
 */
const DELAYED = ': delayed\n\n'
const ON_TIME = ': on time\n\n'
/** Comment that the worker gets before its stream ends because this process stops: another one takes the stream. */
const STOPPING = ': stopping\n\n'
/** Trailer with which a dispatcher says why it ends a stream. */
const END_TRAILER = 'x-windlass-end'
/** Shorter frames contain no dispatch; they are mostly pings, of which a large fleet gets many. */
const MIN_ACKNOWLEDGED_BYTES = 64

export interface WorkerProxyOptions {
  worker_name: string
  /** Time for which the worker may read nothing before the stream ends. */
  stalledMs: number
  /** True while the dispatcher may have given the work of frames that arrive to another worker. */
  isDelayed(): boolean
  /** Sends to the dispatcher how many bytes the worker gets. */
  acknowledge(stream: AcknowledgedStream): void
  /** Called when the dispatcher has ended the stream because it stops: the time to move. */
  onDispatcherStopping(): void
}

/** Stream of a dispatcher, and the base URL of that. */
export interface Upstream {
  url: string
  response: IncomingMessage
}

/**
 * The stream of one worker, copied byte for byte from a dispatcher. It can move to the stream of
 * another dispatcher between two frames; the worker does not notice. It does so when the dispatcher hangs or stops.
 *
 * This process may be suspended between any two instructions, and after a second the dispatcher gives other workers what
 * is not acknowledged. So each piece is acknowledged first, then examined for a delay, then written. After a suspension
 * before the examination the frame is marked, so that the worker claims it before it runs. After a later one the
 * dispatcher knows that the frame arrives. So no task runs twice, with two exceptions: the frame comes in several pieces,
 * with a suspension between them; or the link to the dispatcher is encrypted, the frame is not the first one of a turn of
 * the event loop, and the suspension falls into this turn, because an encrypted socket sends the second acknowledgement in
 * the next turn. A frame that is acknowledged but still here, as those for a worker that reads slowly are, waits for this
 * process, at most for `claim_timeout`.
 */
export class WorkerProxy implements AcknowledgedStream {
  /** Base URL of the dispatcher. */
  url: string
  readonly #ctx: RequestContext
  readonly #options: WorkerProxyOptions
  #upstream: IncomingMessage
  /** The last bytes that were copied. */
  #tail = FRAME_END
  /** Bytes of the current dispatcher's stream that were read, and are passed on. */
  acknowledgedBytes = 0
  /** True after the comment that the following frames may be outdated. */
  #isMarkedDelayed = false
  #isEndedHere = false
  #moving: Promise<void> | undefined

  /** Starts to copy the answer of the dispatcher at `url`. */
  constructor(
    url: string,
    upstream: IncomingMessage,
    ctx: RequestContext,
    options: WorkerProxyOptions,
  ) {
    this.url = url
    this.#ctx = ctx
    this.#options = options
    this.#upstream = upstream
    const { res, id } = ctx
    const head = FORWARDED_HEADERS.flatMap((name) => {
      const value = upstream.headers[name]
      return value === undefined ? [] : [name, value]
    })
    res.writeHead(upstream.statusCode ?? 502, [...head, 'x-request-id', id])
    res.flushHeaders()
  }

  /** Connection generation of the dispatcher's stream; 0 if there is none. */
  get generation(): number {
    return Number(this.#upstream.headers[GENERATION_HEADER] ?? 0)
  }

  get worker_name(): string {
    return this.#options.worker_name
  }

  /** Copies to the end; resolves to `worker` only if the worker's connection ended first. */
  copy(): Promise<'worker' | 'server'> {
    const { res } = this.#ctx
    res.on('drain', () => this.#upstream.resume())
    // The dispatcher cannot see the bytes that are buffered here, so a stalled worker is detected here.
    res.setTimeout(this.#options.stalledMs, () => {
      if (res.writableLength === 0) return
      this.#isEndedHere = true
      res.destroy()
    })
    this.#attach(this.#upstream)
    return new Promise((resolve) => {
      res.once('close', () => resolve(this.#isEndedHere ? 'server' : 'worker'))
    })
  }

  /** Moves to the stream that `open` opens, unless that fails or a frame is half copied. */
  async move(open: () => Promise<Upstream | undefined>): Promise<void> {
    if (!this.#canMove) return
    this.#moving = this.#move(open)
    await this.#moving
    this.#moving = undefined
  }

  async #move(open: () => Promise<Upstream | undefined>): Promise<void> {
    const upstream = await open()
    if (!upstream) return
    const { url, response } = upstream
    if (!this.#canMove) return void response.destroy()
    const previous = this.#upstream
    this.#upstream = response
    this.url = url
    this.acknowledgedBytes = 0
    this.#attach(response)
    previous.destroy()
  }

  get #canMove(): boolean {
    return this.#tail === FRAME_END && !this.#isEndedHere && !this.#ctx.isClosed
  }

  /** Marks, between two frames, the beginning and the end of frames that may be outdated. */
  #markDelay(): void {
    const isDelayed = this.#options.isDelayed()
    if (isDelayed === this.#isMarkedDelayed || this.#tail !== FRAME_END) return
    this.#isMarkedDelayed = isDelayed
    this.#ctx.res.write(isDelayed ? DELAYED : ON_TIME)
  }

  #write(chunk: Buffer, upstream: IncomingMessage): void {
    this.#markDelay()
    this.#tail = (this.#tail + chunk.subarray(-2).toString('latin1')).slice(-2)
    if (!this.#ctx.res.write(chunk)) upstream.pause()
  }

  #attach(upstream: IncomingMessage): void {
    const { res, signal } = this.#ctx
    const isCurrent = () => upstream === this.#upstream
    // A dispatcher that continues ends its stream, because a newer one supersedes it.
    const ifCurrent = async (end: () => void) => {
      await this.#moving
      if (isCurrent()) end()
    }
    upstream.on('data', (chunk: Buffer) => {
      if (!isCurrent()) return
      this.acknowledgedBytes += chunk.length
      const continuesFrame = this.#tail !== FRAME_END
      if (continuesFrame || chunk.length >= MIN_ACKNOWLEDGED_BYTES) this.#options.acknowledge(this)
      // Node writes to sockets in this queue, so the acknowledgement is sent by then.
      process.nextTick(() => this.#write(chunk, upstream))
    })
    // Both are called before `close` of the worker's connection if the dispatcher, the link to it, or this
    // process ended the stream.
    upstream.once('end', () => {
      const wasOpen = !res.destroyed
      const reason = upstream.trailers[END_TRAILER]
      if (reason === 'stopping' && isCurrent()) this.#options.onDispatcherStopping()
      void ifCurrent(() => {
        this.#isEndedHere ||= wasOpen
        if (reason === 'gateway_stopping' && this.#tail === FRAME_END) res.write(STOPPING)
        res.end()
      })
    })
    upstream.once('error', () => {
      const wasOpen = !res.destroyed
      void ifCurrent(() => {
        this.#isEndedHere ||= wasOpen
        // A broken stream must not look like one that ended: a worker waits before it reconnects after an end.
        if (signal.aborted) res.end()
        else res.destroy()
      })
    })
  }
}
