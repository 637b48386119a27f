import { Batcher } from '@windlass/runtime/batcher'
import type { BusSubscription } from '@windlass/runtime/nats/best-effort'
import type { Bus } from '@windlass/runtime/nats/bus'
import { KeyedHandlers } from './keyed-handlers.ts'

interface SubjectState {
  subscription: BusSubscription
  /** Resolves when the NATS server has the subscription. */
  confirmed: Promise<unknown>
}

/** One subscription per subject for any number of handlers; a message is decoded once. */
export class SharedSubscription<T> {
  readonly #bus: Bus
  readonly #subjectOf: (key: string) => string
  readonly #decode: (bytes: Uint8Array) => T
  readonly #subjects = new Map<string, SubjectState>()
  readonly #handlers = new KeyedHandlers<T>()
  readonly #confirmations = new Batcher<BusSubscription, undefined>(confirmAll)

  constructor(bus: Bus, subjectOf: (key: string) => string, decode: (bytes: Uint8Array) => T) {
    this.#bus = bus
    this.#subjectOf = subjectOf
    this.#decode = decode
  }

  /** Resolves when no later message can be missed. Returns the function that unsubscribes. */
  async subscribe(key: string, handler: (message: T) => void): Promise<() => void> {
    const state = this.#subjects.get(key) ?? this.#open(key)
    const remove = this.#handlers.add(key, handler)
    await state.confirmed
    return () => {
      if (!remove()) return
      state.subscription.stop()
      this.#subjects.delete(key)
    }
  }

  /** Delivers a message as if it had been received. */
  deliver(key: string, message: T): void {
    this.#handlers.deliver(key, message)
  }

  /** Returns the keys without a message since the last call. */
  takeSilentKeys(): string[] {
    return this.#handlers.takeSilentKeys()
  }

  #open(key: string): SubjectState {
    const subscription = this.#bus.subscribeBestEffort(this.#subjectOf(key), (bytes) =>
      this.#handlers.receive(key, this.#decode(bytes)),
    )
    const state = { subscription, confirmed: this.#confirmations.add(subscription) }
    this.#subjects.set(key, state)
    return state
  }
}

/** One confirmation covers all subscriptions made before it. */
async function confirmAll(made: BusSubscription[]): Promise<undefined[]> {
  await made.at(-1)?.confirmed()
  return made.map(() => undefined)
}
