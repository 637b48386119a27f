import { ReadCoalescer } from './read-coalescer.ts'

/** Answers are given again for at most so long, and at most so many characters of them are kept. */
const MAX_AGE_MS = 10_000
const MAX_CHARACTERS = 8 * 1_048_576

interface Request {
  /** Equal for requests with the same answer. */
  key: string
  /** Principal of the caller: only its own requests wait for each other. */
  principal: string
  /** Greatest age of an answer that the caller accepts; 0: the read must begin after its request. */
  maxAgeMs: number
}

export interface SharedAnswer {
  text: string
  /** Time since its read began; 0 if that was after the request. */
  ageMs: number
}

interface Read {
  text: string
  begunAt: number
}

/**
 * Answers of reads that depend on nothing but a key: of requests of one principal at the same time, and of earlier
 * requests for callers that accept their age. Open consoles read the same lists again and again while these change;
 * fifty of them cost the services one read in a few seconds.
 */
export class SharedAnswers {
  readonly #now: () => number
  readonly #reads = new ReadCoalescer<Read>()
  /** In the order of their reads. */
  readonly #kept = new Map<string, Read>()
  #characters = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  async read(
    { key, principal, maxAgeMs }: Request,
    ask: () => Promise<string>,
  ): Promise<SharedAnswer> {
    this.#forgetOld()
    const kept = this.#kept.get(key)
    const keptMs = kept ? this.#now() - kept.begunAt : Number.POSITIVE_INFINITY
    if (kept && maxAgeMs > 0 && keptMs <= maxAgeMs) return { text: kept.text, ageMs: keptMs }
    const read = await this.#reads.read(`${principal} ${key}`, async () => {
      const begunAt = this.#now()
      return { text: await ask(), begunAt }
    })
    // Other clients, which accept no age, fill no memory.
    if (maxAgeMs > 0) this.#keep(key, read)
    return { text: read.text, ageMs: 0 }
  }

  #keep(key: string, read: Read): void {
    const known = this.#kept.get(key)
    if (known && known.begunAt >= read.begunAt) return
    this.#forget(key)
    this.#kept.set(key, read)
    this.#characters += read.text.length
    this.#forgetOld()
  }

  #forgetOld(): void {
    const since = this.#now() - MAX_AGE_MS
    for (const [key, { begunAt }] of this.#kept) {
      if (begunAt >= since && this.#characters <= MAX_CHARACTERS) return
      this.#forget(key)
    }
  }

  #forget(key: string): void {
    this.#characters -= this.#kept.get(key)?.text.length ?? 0
    this.#kept.delete(key)
  }
}
