import { Batcher } from '@windlass/runtime/batcher'
import type { Bus, BusSubscription } from '@windlass/runtime/nats/bus'
import { waitAtMost } from '@windlass/runtime/timeout'

type Handler<T> = (message: T) => void

interface SubjectState<T> {
  handlers: Set<Handler<T>>
  subscription: BusSubscription
  /** Nothing came since somebody last looked. */
  isSilent: boolean
  /** Resolves when the server knows of the subscription. */
  confirmed: Promise<unknown>
}

/** Without NATS nobody waits for it: whoever listens also looks by itself. */
const FLUSH_TIMEOUT_MS = 1_000

/** One subscription for each subject, however many listen to it; a message is decoded once. */
export class SharedSubscription<T> {
  readonly #bus: Bus
  readonly #subjectOf: (key: string) => string
  readonly #decode: (bytes: Uint8Array) => T
  readonly #subjects = new Map<string, SubjectState<T>>()
  readonly #flushes = new Batcher<BusSubscription, undefined>(flushOnce)

  constructor(bus: Bus, subjectOf: (key: string) => string, decode: (bytes: Uint8Array) => T) {
    this.#bus = bus
    this.#subjectOf = subjectOf
    this.#decode = decode
  }

  /** Resolves when nothing said from now on is missed. Answers how to stop listening. */
  async subscribe(key: string, handler: Handler<T>): Promise<() => void> {
    const state = this.#subjects.get(key) ?? this.#open(key)
    state.handlers.add(handler)
    await state.confirmed
    return () => {
      if (!state.handlers.delete(handler) || state.handlers.size > 0) return
      state.subscription.stop()
      this.#subjects.delete(key)
    }
  }

  /** Passes a message on as if it had been received. */
  deliver(key: string, message: T): void {
    for (const handler of this.#subjects.get(key)?.handlers ?? []) handler(message)
  }

  /** Where nothing was received since the last time this was asked. */
  takeSilentKeys(): string[] {
    const quiet: string[] = []
    for (const [key, state] of this.#subjects) {
      if (state.isSilent) quiet.push(key)
      state.isSilent = true
    }
    return quiet
  }

  #open(key: string): SubjectState<T> {
    const subscription = this.#bus.subscribeBestEffort(this.#subjectOf(key), (bytes) => {
      state.isSilent = false
      this.deliver(key, this.#decode(bytes))
    })
    const confirmed = this.#flushes.add(subscription)
    const state: SubjectState<T> = { handlers: new Set(), subscription, isSilent: false, confirmed }
    this.#subjects.set(key, state)
    return state
  }
}

/** The server knows of all subscriptions that were made before a flush when that flush is answered. */
async function flushOnce(made: BusSubscription[]): Promise<undefined[]> {
  const last = made.at(-1)
  if (last) await waitAtMost(FLUSH_TIMEOUT_MS, last.flushed()).catch(() => {})
  return made.map(() => undefined)
}
