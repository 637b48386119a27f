import { parseId } from '@windlass/runtime/ids'
import type { BusSubscription } from '@windlass/runtime/nats/best-effort'
import type { Bus } from '@windlass/runtime/nats/bus'

/** Maximum number of ids that are kept between two rounds. */
const MAX_IDS = 1_000
const SUBJECT = 'executions.*.events.*'

export interface ChangedIds {
  ids: readonly string[]
  /**
   * True: signals may have been missed, because NATS was unavailable or there were more ids than are kept.
   */
  areIncomplete: boolean
}

/** Collects the ids of executions whose logs grew, from the subjects of their signals, which are not decoded. */
export class ChangedExecutions {
  readonly #bus: Bus
  readonly #ids = new Set<string>()
  #areIncomplete = true
  #subscription: BusSubscription | undefined

  constructor(bus: Bus) {
    this.#bus = bus
  }

  /** Subscribes while it is used; resolves when no later signal can be missed. */
  async use(isUsed: boolean): Promise<void> {
    if (isUsed) {
      this.#subscription ??= this.#bus.subscribeBestEffort(SUBJECT, (_, at) => this.#add(at))
      await this.#subscription.confirmed()
    } else if (this.#subscription) {
      this.#subscription.stop()
      this.#subscription = undefined
      this.#ids.clear()
      this.#areIncomplete = true
    }
  }

  /** Returns the ids since the last call. */
  take(): ChangedIds {
    const taken = { ids: [...this.#ids], areIncomplete: this.#areIncomplete || !this.#bus.isUp }
    this.#ids.clear()
    this.#areIncomplete = !this.#bus.isUp
    return taken
  }

  #add(subject: string): void {
    const [, name = '', , kind] = subject.split('.')
    // A reply has the name of a process in place of the id, and a signal of its own.
    const id = kind === 'reply' ? undefined : parseId(name)
    if (id === undefined) return
    if (this.#ids.size >= MAX_IDS && !this.#ids.has(id)) this.#areIncomplete = true
    else this.#ids.add(id)
  }
}
