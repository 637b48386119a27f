import type { Exchange } from './exchange.ts'

const PING_MS = 15_000
const STALLED_MS = 30_000
/** What a reader may owe before it is given up. */
const MAX_OWED_BYTES = 1_048_576

const HEADERS = [
  ...['content-type', 'text/event-stream'],
  ...['cache-control', 'no-cache, no-store'],
  ...['connection', 'keep-alive'],
  ...['x-accel-buffering', 'no'],
]

/**
 * An event stream to one reader. What the reader has not taken is bounded; one that takes nothing
 * for half a minute is closed. A slow reader costs nobody else anything.
 */
export class SseStream {
  readonly #x: Exchange
  readonly #ping: NodeJS.Timeout

  constructor(x: Exchange, status = 200) {
    this.#x = x
    const { res, id, answerHeaders } = x
    res.writeHead(status, [...HEADERS, 'x-request-id', id, ...answerHeaders])
    res.flushHeaders()
    this.#ping = setInterval(() => this.send(': ping\n\n'), PING_MS)
    // The socket's clock runs only while it moves nothing: our own writes wind it up, unless they are stuck.
    res.setTimeout(STALLED_MS, () => res.destroy())
    res.once('close', () => clearInterval(this.#ping))
  }

  /** Sends whole frames, or closes a stream whose reader owes too much. */
  send(frames: string): void {
    const { res } = this.#x
    if (res.destroyed || res.writableEnded) return
    if (res.writableLength > MAX_OWED_BYTES) res.destroy()
    else res.write(frames)
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
