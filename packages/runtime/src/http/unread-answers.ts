import type { ServerResponse } from 'node:http'
import { unavailable } from '../faults.ts'

/** Smaller answers are not counted, because the operating system takes them at once. */
const LARGE_BYTES = 262_144

interface UnreadAnswersOptions {
  /** Bytes of all answers together. */
  maxBytes: number
  /** Bytes of the answers to one principal. */
  maxBytesPerPrincipal: number
  /** Time that a client has to read any answer. */
  timeoutMs: number
  /** Rate at which the size of an answer adds to that time; 0: no limit. */
  minBytesPerSecond: number
}

/** Converts settings. */
export const unreadLimits = (server: {
  max_body_bytes_in_flight: number
  max_principal_body_bytes_in_flight: number
  answer_timeout: number
  min_answer_rate: number
}): UnreadAnswersOptions => ({
  maxBytes: server.max_body_bytes_in_flight,
  maxBytesPerPrincipal: server.max_principal_body_bytes_in_flight,
  timeoutMs: server.answer_timeout * 1_000,
  minBytesPerSecond: server.min_answer_rate,
})

export interface AnswerSize {
  bytes: number
  /** Bytes of it that are in memory at a time; absent: all. */
  heldBytes?: number
}

interface Unread {
  principal: string | undefined
  bytes: number
  deadline: NodeJS.Timeout | undefined
  cut(): void
}

/**
 * Limits the memory of large answers that clients have not read yet: a client that reads nothing would
 * otherwise keep all of them. Above the limit of a principal, its request is answered 503 until it has read
 * its answers. Above the total, the oldest answer of the principal with the most bytes is cut off, so that
 * a few principals do not cause refusals for all others.
 *
 * An answer that is not read by its deadline is cut off, so that a client that reads byte by byte cannot keep
 * one without end. The deadline is for the whole answer: the operating system takes bytes in parts of up to
 * some megabytes, so for minutes a slow client looks like one that reads nothing.
 */
export class UnreadAnswers {
  readonly #options: UnreadAnswersOptions
  /** In the order in which they began. */
  readonly #unread = new Set<Unread>()
  readonly #byResponse = new WeakMap<ServerResponse, Unread>()

  constructor(options: UnreadAnswersOptions) {
    this.#options = options
  }

  /**
   * Counts an answer until it has been read or its connection closes; an answer that is still being collected, or sent
   * in parts, is counted again with its new size, and no longer with a small one. Throws `unavailable` above the limit.
   */
  add(
    principal: string | undefined,
    { bytes: size, heldBytes: bytes = size }: AnswerSize,
    res: ServerResponse,
  ): void {
    this.#forget(res)
    if (size < LARGE_BYTES || res.closed) return
    const own = principal === undefined ? 0 : this.#bytesOf(principal)
    if (own > 0 && own + bytes > this.#options.maxBytesPerPrincipal)
      throw unavailable('you have too many answers that are not read; read them, then retry')
    while (this.#unread.size > 0 && this.#total() + bytes > this.#options.maxBytes)
      this.#oldestOfLargest()?.cut()
    const cut = () => {
      this.#forget(res)
      res.destroy()
    }
    const unread = { principal, bytes, cut, deadline: this.#startDeadline(size, cut) }
    this.#unread.add(unread)
    if (!this.#byResponse.has(res)) res.once('close', () => this.#forget(res))
    this.#byResponse.set(res, unread)
  }

  #forget(res: ServerResponse): void {
    const unread = this.#byResponse.get(res)
    if (!unread) return
    clearTimeout(unread.deadline)
    this.#unread.delete(unread)
  }

  #startDeadline(size: number, cut: () => void): NodeJS.Timeout | undefined {
    const { timeoutMs, minBytesPerSecond } = this.#options
    if (minBytesPerSecond === 0) return undefined
    return setTimeout(cut, timeoutMs + (size / minBytesPerSecond) * 1_000).unref()
  }

  #total(): number {
    return [...this.#unread].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  #bytesOf(principal: string | undefined): number {
    const own = [...this.#unread].filter((one) => one.principal === principal)
    return own.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  #oldestOfLargest(): Unread | undefined {
    const all = [...this.#unread]
    const most = Math.max(...all.map(({ principal }) => this.#bytesOf(principal)))
    return all.find(({ principal }) => this.#bytesOf(principal) === most)
  }
}
