import { Batcher } from '@windlass/runtime/batcher'
import type { Bus, BusSubscription } from '@windlass/runtime/nats/bus'
import { waitAtMost } from '@windlass/runtime/timeout'

type Handler<T> = (message: T) => void

interface SubjectState<T> {
  handlers: Set<Handler<T>>
  subscription: BusSubscription
  /** No message since the last call of takeSilentKeys. */
  isSilent: boolean
  /** Resolves when the NATS server has the subscription. */
  confirmed: Promise<unknown>
}

/** While NATS is unavailable nothing waits for it longer: polling finds every change. */
const FLUSH_TIMEOUT_MS = 1_000

/** One subscription per subject for any number of handlers; a message is decoded once. */
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

  /** Resolves when no later message can be missed. Returns the function that unsubscribes. */
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

  /** Delivers a message as if it had been received. */
  deliver(key: string, message: T): void {
    for (const handler of this.#subjects.get(key)?.handlers ?? []) handler(message)
  }

  /** Returns the keys without a message since the last call. */
  takeSilentKeys(): string[] {
    const silent: string[] = []
    for (const [key, state] of this.#subjects) {
      if (state.isSilent) silent.push(key)
      state.isSilent = true
    }
    return silent
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

/** One flush confirms all subscriptions made before it. */
async function flushOnce(made: BusSubscription[]): Promise<undefined[]> {
  const last = made.at(-1)
  if (last) await waitAtMost(FLUSH_TIMEOUT_MS, last.flushed()).catch(() => {})
  return made.map(() => undefined)
}
