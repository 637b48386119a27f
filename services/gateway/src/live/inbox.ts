import type { LogGrew, ProgressItem } from '@windlass/proto/windlass/signals/v1/signals'

export type Letter = { grew: LogGrew } | { items: ProgressItem[] }

/** What waits for one reader, in characters of payload. */
const MAX_LENGTH = 1_048_576

/** Letters for one reader. When too much piles up it is all thrown away, and the reader is told to look for itself. */
export class Mailbox {
  readonly #signal: AbortSignal
  #letters: Letter[] = []
  #length = 0
  #hasMissed = false
  #wake: () => void = () => {}

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake(), { once: true })
  }

  put(letter: Letter): void {
    this.#length += lengthOf(letter)
    if (this.#length > MAX_LENGTH) {
      this.#hasMissed = true
      this.#letters = []
      this.#length = 0
    } else this.#letters.push(letter)
    this.#wake()
  }

  /** The next letter, `missed` when some were thrown away. Returns at once when the reader has left. */
  async take(): Promise<Letter | 'missed'> {
    for (;;) {
      if (this.#hasMissed || this.#signal.aborted) {
        this.#hasMissed = false
        return 'missed'
      }
      const letter = this.#letters.shift()
      if (letter) {
        this.#length -= lengthOf(letter)
        return letter
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

const lengthOf = (letter: Letter) =>
  64 +
  ('grew' in letter ? letter.grew.entries : letter.items).reduce(
    (sum, { value_json }) => sum + value_json.length,
    0,
  )
