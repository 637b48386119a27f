import { ExecutionsChanged } from '@windlass/proto/windlass/signals/v1/signals'
import type { BusSubscription } from '@windlass/runtime/nats/best-effort'
import type { Bus } from '@windlass/runtime/nats/bus'

/** Maximum number of ids that are kept between two rounds. */
const MAX_IDS = 1_000
const SUBJECT = 'executions.batch.events.changed'

export interface ChangedIds {
  /** In the order of their last changes. */
  ids: readonly string[]
  /**
   * True: signals may have been missed, because NATS was unavailable or there were more ids than are kept.
   */
  areIncomplete: boolean
}

/** Changes of two rounds; no more ids than are kept. */
export function joinChanges(earlier: ChangedIds | undefined, later: ChangedIds): ChangedIds {
  if (!earlier) return later
  const again = new Set(later.ids)
  const ids = [...earlier.ids.filter((id) => !again.has(id)), ...later.ids]
  const areIncomplete = earlier.areIncomplete || later.areIncomplete || ids.length > MAX_IDS
  return { ids: ids.slice(-MAX_IDS), areIncomplete }
}

/**
 * Collects the ids of executions whose logs grew or that wait: one message for each commit, because a message for each change costs
 * more than all readers of the lists. Changes by replicas of an earlier release, which do not send it, are found by time.
 */
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
      this.#subscription ??= this.#bus.subscribeBestEffort(SUBJECT, (bytes) => {
        for (const id of ExecutionsChanged.decode(bytes).execution_ids) this.#add(id)
      })
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

  #add(id: string): void {
    this.#ids.delete(id)
    if (this.#ids.size >= MAX_IDS) this.#areIncomplete = true
    else this.#ids.add(id)
  }
}
