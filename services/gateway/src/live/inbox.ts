import type { LogGrew, ProgressItem } from '@windlass/proto/windlass/signals/v1/signals'

export type InboxMessage = { grew: LogGrew } | { items: ProgressItem[]; hasLines?: boolean }

/** Limit of waiting messages of one reader, in characters of payload. */
const MAX_LENGTH = 1_048_576

/** Messages for one reader. On overflow all are dropped, and the reader reads the log instead. */
export class BoundedInbox {
  readonly #signal: AbortSignal
  #messages: InboxMessage[] = []
  #length = 0
  #hasOverflowed = false
  #wake: () => void = () => {}

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake(), { once: true })
  }

  put(message: InboxMessage): void {
    this.#length += lengthOf(message)
    if (this.#length > MAX_LENGTH) {
      this.#hasOverflowed = true
      this.#messages = []
      this.#length = 0
    } else this.#messages.push(message)
    this.#wake()
  }

  /**
   * Resolves to the next message, or to `overflow` if messages were dropped; immediately if the reader has
   * left.
   */
  async take(): Promise<InboxMessage | 'overflow'> {
    for (;;) {
      if (this.#hasOverflowed || this.#signal.aborted) {
        this.#hasOverflowed = false
        return 'overflow'
      }
      const message = this.#messages.shift()
      if (message) {
        this.#length -= lengthOf(message)
        return message
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

const lengthOf = (message: InboxMessage) =>
  64 +
  ('grew' in message ? message.grew.entries : message.items).reduce(
    (sum, { value_json }) => sum + value_json.length,
    0,
  )
