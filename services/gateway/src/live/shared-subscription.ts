import { Batcher } from '@windlass/runtime/batcher'
import type { BusSubscription } from '@windlass/runtime/nats/best-effort'
import type { Bus } from '@windlass/runtime/nats/bus'

type Handler<T> = (message: T) => void

interface SubjectState<T> {
  handlers: Set<Handler<T>>
  subscription: BusSubscription
  /** No message since the last call of takeSilentKeys. */
  isSilent: boolean
  /** Resolves when the NATS server has the subscription. */
  confirmed: Promise<unknown>
}

/** One subscription per subject for any number of handlers; a message is decoded once. */
export class SharedSubscription<T> {
  readonly #bus: Bus
  readonly #subjectOf: (key: string) => string
  readonly #decode: (bytes: Uint8Array) => T
  readonly #subjects = new Map<string, SubjectState<T>>()
  readonly #confirmations = new Batcher<BusSubscription, undefined>(confirmAll)

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
    const confirmed = this.#confirmations.add(subscription)
    const state: SubjectState<T> = { handlers: new Set(), subscription, isSilent: false, confirmed }
    this.#subjects.set(key, state)
    return state
  }
}

/** One confirmation covers all subscriptions made before it. */
async function confirmAll(made: BusSubscription[]): Promise<undefined[]> {
  await made.at(-1)?.confirmed()
  return made.map(() => undefined)
}
