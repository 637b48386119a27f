import type { Exchange } from './request-context.ts'

const MAX_PING_MS = 15_000
/** Node lets it pass once more before it says so. */
const STALLED_MS = 15_000
/** What a reader may owe when there is more for it, and how long it may then take to catch up. */
const MAX_OWED_BYTES = 1_048_576
const GRACE_MS = 2_000

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
  readonly #x: Exchange
  readonly #ping: NodeJS.Timeout

  constructor(x: Exchange, { status = 200, pingMs = MAX_PING_MS } = {}) {
    this.#x = x
    const { res, id, answerHeaders } = x
    res.writeHead(status, [...HEADERS, 'x-request-id', id, ...answerHeaders])
    res.flushHeaders()
    // Where something is on its way already, a ping would only pile up behind it.
    this.#ping = setInterval(
      () => {
        if (res.writableLength === 0) this.send(': ping\n\n')
      },
      Math.min(pingMs, MAX_PING_MS),
    )
    // The socket's clock runs while nothing moves; with nothing to move that is no fault of the reader.
    res.setTimeout(STALLED_MS, () => {
      if (res.writableLength > 0) res.destroy()
    })
    res.once('close', () => clearInterval(this.#ping))
  }

  send(frames: string): void {
    const { res } = this.#x
    if (frames !== '' && !res.destroyed && !res.writableEnded) res.write(frames)
  }

  get isBehind(): boolean {
    return this.#x.res.writableLength > MAX_OWED_BYTES
  }

  /** Resolves when there is room for more. A reader that leaves none is closed. */
  async room(): Promise<void> {
    if (!this.isBehind) return
    const patience = setTimeout(() => this.#x.res.destroy(), GRACE_MS)
    await this.drained()
    clearTimeout(patience)
  }

  /** Resolves when the reader has taken what it was sent, or is gone. */
  async drained(): Promise<void> {
    const { res } = this.#x
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
    this.#x.res.end()
  }
}
