import type { RequestContext } from './request-context.ts'

const MAX_PING_INTERVAL_MS = 15_000
/** Node lets it pass once more before it says so. */
const STALL_TIMEOUT_MS = 15_000
/** What a reader may owe when there is more for it, and how long it may then take to catch up. */
const MAX_BUFFERED_BYTES = 1_048_576
const CATCH_UP_TIMEOUT_MS = 2_000

const HEADERS = [
  ...['content-type', 'text/event-stream'],
  ...['cache-control', 'no-cache, no-store'],
  ...['connection', 'keep-alive'],
  ...['x-accel-buffering', 'no'],
]

/**
 * An event stream to one reader. What it owes is bounded by a mebibyte and one frame; a reader that
 * stays behind, or takes nothing for half a minute, is closed. A slow one costs nobody else anything.
 */
export class SseStream {
  readonly #ctx: RequestContext
  readonly #ping: NodeJS.Timeout

  constructor(ctx: RequestContext, { status = 200, pingMs = MAX_PING_INTERVAL_MS } = {}) {
    this.#ctx = ctx
    const { res, id, responseHeaders } = ctx
    res.writeHead(status, [...HEADERS, 'x-request-id', id, ...responseHeaders])
    res.flushHeaders()
    // Where something is on its way already, a ping would only pile up behind it.
    this.#ping = setInterval(
      () => {
        if (res.writableLength === 0) this.send(': ping\n\n')
      },
      Math.min(pingMs, MAX_PING_INTERVAL_MS),
    )
    // The socket's clock runs while nothing moves; with nothing to move that is no fault of the reader.
    res.setTimeout(STALL_TIMEOUT_MS, () => {
      if (res.writableLength > 0) res.destroy()
    })
    res.once('close', () => clearInterval(this.#ping))
  }

  send(frames: string): void {
    const { res } = this.#ctx
    if (frames !== '' && !res.destroyed && !res.writableEnded) res.write(frames)
  }

  get isAboveHighWater(): boolean {
    return this.#ctx.res.writableLength > MAX_BUFFERED_BYTES
  }

  /** Resolves when there is room for more. A reader that leaves none is closed. */
  async waitUntilWritable(): Promise<void> {
    if (!this.isAboveHighWater) return
    const closeTimer = setTimeout(() => this.#ctx.res.destroy(), CATCH_UP_TIMEOUT_MS)
    await this.waitUntilDrained()
    clearTimeout(closeTimer)
  }

  /** Resolves when the reader has taken what it was sent, or is gone. */
  async waitUntilDrained(): Promise<void> {
    const { res } = this.#ctx
    if (!res.writableNeedDrain || res.destroyed) return
    await new Promise<void>((resolve) => {
      const done = () => {
        res.off('drain', done)
        res.off('close', done)
        resolve()
      }
      res.once('drain', done)
      res.once('close', done)
    })
  }

  end(): void {
    clearInterval(this.#ping)
    this.#ctx.res.end()
  }
}
