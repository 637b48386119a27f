import type { ServerResponse } from 'node:http'
import { unavailable } from '@windlass/runtime/faults'

/** Smaller answers are not counted, because the operating system takes them at once. */
const LARGE_BYTES = 1_048_576

interface UnreadAnswersOptions {
  /** Bytes of all answers together. */
  maxBytes: number
  /** Bytes of the answers to one principal. */
  maxBytesPerPrincipal: number
}

interface Unread {
  principal: string | undefined
  bytes: number
  cut(): void
}

/**
 * Limits the memory of large answers that clients have not read yet: a client that reads nothing would
 * otherwise keep all of them. Above the limit of a principal, its request is answered 503 until it has read
 * its answers. Above the total, the oldest answer of the principal with the most bytes is cut off, so that
 * a few principals do not cause refusals for all others.
 */
export class UnreadAnswers {
  readonly #options: UnreadAnswersOptions
  /** In the order in which they began. */
  readonly #unread = new Set<Unread>()

  constructor(options: UnreadAnswersOptions) {
    this.#options = options
  }

  /** Counts an answer until it has been read or its connection closes. Throws `unavailable` above the limit. */
  add(principal: string | undefined, bytes: number, res: ServerResponse): void {
    if (bytes < LARGE_BYTES) return
    const own = principal === undefined ? 0 : this.#bytesOf(principal)
    if (own > 0 && own + bytes > this.#options.maxBytesPerPrincipal)
      throw unavailable('you have too many answers that are not read; read them, then retry')
    while (this.#unread.size > 0 && this.#total() + bytes > this.#options.maxBytes)
      this.#oldestOfLargest()?.cut()
    const unread: Unread = {
      principal,
      bytes,
      cut: () => {
        this.#unread.delete(unread)
        res.destroy()
      },
    }
    this.#unread.add(unread)
    res.once('close', () => this.#unread.delete(unread))
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
