import type { IncomingMessage } from 'node:http'

interface Progress {
  since: number
  bytes: number
}

/** Progress of a body that no check has seen yet: most bodies end before a check. */
const UNSEEN: Progress = { since: Number.NaN, bytes: 0 }

export interface SlowBodyOptions {
  /** Bytes a second below which a body counts as slow. */
  minBytesPerSecond: number
  windowMs: number
  onSlow(req: IncomingMessage): void
}

const CHECK_INTERVAL_MS = 1_000

/**
 * Finds request bodies that arrive slower than the minimum rate over a whole window. Only the time in
 * which the server reads counts: a body that waits for authorization is not slow. The window of a body begins at
 * the first check that finds it unfinished, so that a short body costs one entry of a map.
 */
export class SlowBodies {
  readonly #options: SlowBodyOptions
  readonly #bodies = new Map<IncomingMessage, Progress>()
  /** Runs while there are bodies, so that it does not wake a process without requests. */
  #timer: NodeJS.Timeout | undefined

  constructor(options: SlowBodyOptions) {
    this.#options = options
  }

  watch(req: IncomingMessage): void {
    if (req.complete) return
    this.#bodies.set(req, UNSEEN)
    if (this.#timer) return
    const interval = Math.min(CHECK_INTERVAL_MS, this.#options.windowMs)
    this.#timer = setInterval(() => this.#round(), interval).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #round(): void {
    this.#check(performance.now())
    if (this.#bodies.size === 0) this.stop()
  }

  #check(now: number): void {
    const { minBytesPerSecond, windowMs, onSlow } = this.#options
    for (const [req, progress] of this.#bodies) {
      const { bytesRead } = req.socket
      if (req.complete || req.destroyed) this.#bodies.delete(req)
      else if (progress === UNSEEN || !req.readableFlowing)
        this.#bodies.set(req, { since: now, bytes: bytesRead })
      else if (now - progress.since >= windowMs) {
        const minBytes = ((now - progress.since) / 1_000) * minBytesPerSecond
        const isSlow = bytesRead - progress.bytes < minBytes
        this.#bodies.set(req, { since: now, bytes: bytesRead })
        if (isSlow) onSlow(req)
      }
    }
  }
}
