import { isRefusal } from './is-refusal.ts'
import type { RequestContext } from './request-context.ts'

const MAX_PING_INTERVAL_MS = 15_000
/** Node lets this time pass twice before it fires. */
const STALL_TIMEOUT_MS = 15_000
/** Buffered bytes above which a reader must catch up before it gets more, and the time it has for that. */
const MAX_BUFFERED_BYTES = 1_048_576
const CATCH_UP_TIMEOUT_MS = 2_000

const HEADERS = [
  ...['content-type', 'text/event-stream'],
  ...['cache-control', 'no-cache, no-store'],
  ...['connection', 'keep-alive'],
  ...['x-accel-buffering', 'no'],
]

/**
 * An event stream to one reader. Its buffer is limited to 1 MiB and one frame. A slow consumer that stays
 * above that, or reads nothing for half a minute, is disconnected; others are not affected. The dispatcher
 * has another SSE writer (worker-stream.ts): this one sends data that can be read again from the log and
 * drops progress, so it waits for the socket; that one must keep cancellations for a slow worker, so it
 * buffers frames itself and distinguishes a slow reader from a stalled one.
 */
export class SseStream {
  readonly #ctx: RequestContext
  readonly #ping: NodeJS.Timeout

  constructor(ctx: RequestContext, { status = 200, pingMs = MAX_PING_INTERVAL_MS } = {}) {
    this.#ctx = ctx
    const { res, id, responseHeaders } = ctx
    res.writeHead(status, [...HEADERS, 'x-request-id', id, ...responseHeaders])
    res.flushHeaders()
    // With data in the buffer a ping would only queue behind it.
    this.#ping = setInterval(
      () => {
        if (res.writableLength === 0) this.send(': ping\n\n')
      },
      Math.min(pingMs, MAX_PING_INTERVAL_MS),
    )
    // The socket timeout also fires on an idle stream, which is not the reader's fault.
    res.setTimeout(STALL_TIMEOUT_MS, () => {
      if (res.writableLength > 0) res.destroy()
    })
    res.once('close', () => clearInterval(this.#ping))
  }

  /** Sends text, or bytes that several readers share. */
  send(frames: string | Buffer): void {
    const { res } = this.#ctx
    if (frames.length > 0 && !res.destroyed && !res.writableEnded) res.write(frames)
  }

  /** True once the caller is no longer authorized: it gets nothing more than the reason. */
  get isRefused(): boolean {
    return isRefusal(this.#ctx.signal.reason)
  }

  get isAboveHighWater(): boolean {
    return this.#ctx.res.writableLength > MAX_BUFFERED_BYTES
  }

  /** Resolves below the high-water mark; closes a reader that stays above it. */
  async waitUntilWritable(): Promise<void> {
    if (!this.isAboveHighWater) return
    const closeTimer = setTimeout(() => this.#ctx.res.destroy(), CATCH_UP_TIMEOUT_MS)
    await this.waitUntilDrained()
    clearTimeout(closeTimer)
  }

  /** Resolves when the reader has taken all buffered data, has disconnected, or is no longer authorized. */
  waitUntilDrained(): Promise<void> {
    return untilDrained(this.#ctx)
  }

  end(): void {
    clearInterval(this.#ping)
    this.#ctx.res.end()
  }
}

/** Resolves when the client has taken all buffered data, has disconnected, or is no longer authorized. */
export async function untilDrained({ res, signal }: RequestContext): Promise<void> {
  if (!res.writableNeedDrain || res.destroyed || isRefusal(signal.reason)) return
  await new Promise<void>((resolve) => {
    const done = () => {
      res.off('drain', done)
      res.off('close', done)
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
    const onAbort = () => {
      if (isRefusal(signal.reason)) done()
    }
    res.once('drain', done)
    res.once('close', done)
    signal.addEventListener('abort', onAbort)
  })
}
