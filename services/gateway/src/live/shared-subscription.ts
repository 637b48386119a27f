import { Batcher } from '@windlass/runtime/batcher'
import type { Bus, BusSubscription } from '@windlass/runtime/nats/bus'
import { waitAtMost } from '@windlass/runtime/timeout'

type Hear<T> = (message: T) => void

interface Channel<T> {
  ears: Set<Hear<T>>
  heard: BusSubscription
  /** Nothing came since somebody last looked. */
  isQuiet: boolean
  /** Resolves when the server knows of the subscription. */
  known: Promise<unknown>
}

/** Without NATS nobody waits for it: whoever listens also looks by itself. */
const FLUSH_MS = 1_000

/** One subscription for each subject, however many listen to it; a message is decoded once. */
export class Shared<T> {
  readonly #bus: Bus
  readonly #subjectOf: (key: string) => string
  readonly #decode: (bytes: Uint8Array) => T
  readonly #channels = new Map<string, Channel<T>>()
  readonly #flushes = new Batcher<BusSubscription, undefined>(flushOnce)

  constructor(bus: Bus, subjectOf: (key: string) => string, decode: (bytes: Uint8Array) => T) {
    this.#bus = bus
    this.#subjectOf = subjectOf
    this.#decode = decode
  }

  /** Resolves when nothing said from now on is missed. Answers how to stop listening. */
  async listen(key: string, hear: Hear<T>): Promise<() => void> {
    const channel = this.#channels.get(key) ?? this.#open(key)
    channel.ears.add(hear)
    await channel.known
    return () => {
      if (!channel.ears.delete(hear) || channel.ears.size > 0) return
      channel.heard.stop()
      this.#channels.delete(key)
    }
  }

  /** Passes a message on as if it had been heard. */
  tell(key: string, message: T): void {
    for (const hear of this.#channels.get(key)?.ears ?? []) hear(message)
  }

  /** Where nothing was heard since the last time this was asked. */
  takeQuiet(): string[] {
    const quiet: string[] = []
    for (const [key, channel] of this.#channels) {
      if (channel.isQuiet) quiet.push(key)
      channel.isQuiet = true
    }
    return quiet
  }

  #open(key: string): Channel<T> {
    const heard = this.#bus.subscribeBestEffort(this.#subjectOf(key), (bytes) => {
      channel.isQuiet = false
      this.tell(key, this.#decode(bytes))
    })
    const known = this.#flushes.add(heard)
    const channel: Channel<T> = { ears: new Set(), heard, isQuiet: false, known }
    this.#channels.set(key, channel)
    return channel
  }
}

/** The server knows of all subscriptions that were made before a flush when that flush is answered. */
async function flushOnce(made: BusSubscription[]): Promise<undefined[]> {
  const last = made.at(-1)
  if (last) await waitAtMost(FLUSH_MS, last.flushed()).catch(() => {})
  return made.map(() => undefined)
}
