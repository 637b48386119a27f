import type { ServerResponse } from 'node:http'

export interface SlowReaderOptions {
  /** Time that a client has to read any answer. */
  timeoutMs: number
  /** Rate at which the unread rest of an answer adds to that time; 0: no deadline. */
  minBytesPerSecond: number
  /** Bytes of all answers that are not read; 0: no limit. */
  maxBytes: number
}

interface Unread {
  res: ServerResponse
  bytes: number
  /** Time at which the answer is cut off. */
  deadline: number
}

const CHECK_INTERVAL_MS = 1_000

/**
 * Finds complete answers that their clients do not read, whatever their size: each holds a connection, and
 * the bytes that the operating system has not taken. One that is not read by its deadline is cut off, and
 * above the limit of bytes the oldest one of the address with the most. Large answers have stricter limits,
 * before they begin (`UnreadAnswers`). Nearly all answers are read at once, so none costs anything before it has
 * lasted until a check.
 */
export class SlowReaders {
  readonly #options: SlowReaderOptions
  readonly #open: ReadonlyMap<unknown, ServerResponse>
  readonly #deadlines = new WeakMap<ServerResponse, number>()
  /** Runs while there are open responses, so that it does not wake a process without requests. */
  #timer: NodeJS.Timeout | undefined

  /** `open` has the responses that have begun, the oldest first. */
  constructor(open: ReadonlyMap<unknown, ServerResponse>, options: SlowReaderOptions) {
    this.#open = open
    this.#options = options
  }

  /** Called when a response has begun. */
  start(): void {
    this.#timer ??= setInterval(() => this.#check(performance.now()), CHECK_INTERVAL_MS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #check(now: number): void {
    if (this.#open.size === 0) return void this.stop()
    const unread: Unread[] = []
    for (const res of this.#open.values()) {
      // Event streams have not ended, and have limits of their own.
      const bytes = res.writableEnded ? res.writableLength : 0
      if (bytes > 0) unread.push({ res, bytes, deadline: this.#deadlineOf(res, bytes, now) })
    }
    for (const { res, deadline } of unread) if (now >= deadline) res.destroy()
    this.#cutAboveLimit(unread.filter(({ res }) => !res.destroyed))
  }

  #deadlineOf(res: ServerResponse, bytes: number, now: number): number {
    const { timeoutMs, minBytesPerSecond } = this.#options
    const known = this.#deadlines.get(res)
    if (known !== undefined) return known
    const ms = timeoutMs + (bytes / minBytesPerSecond) * 1_000
    const deadline = minBytesPerSecond === 0 ? Number.POSITIVE_INFINITY : now + ms
    this.#deadlines.set(res, deadline)
    return deadline
  }

  #cutAboveLimit(unread: readonly Unread[]): void {
    const { maxBytes } = this.#options
    const byAddress = new Map<string, { bytes: number; answers: Unread[] }>()
    let total = 0
    for (const one of unread) {
      const address = one.res.socket?.remoteAddress ?? ''
      const own = byAddress.get(address) ?? { bytes: 0, answers: [] }
      byAddress.set(address, own)
      own.answers.push(one)
      own.bytes += one.bytes
      total += one.bytes
    }
    while (maxBytes > 0 && total > maxBytes) {
      const most = [...byAddress.values()].reduce((a, b) => (b.bytes > a.bytes ? b : a))
      const oldest = most.answers.shift()
      if (!oldest) return
      most.bytes -= oldest.bytes
      total -= oldest.bytes
      oldest.res.destroy()
    }
  }
}
