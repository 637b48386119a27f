import { ExecutionsChanged } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/nats/bus'

/** Milliseconds between two signals: a fraction of the rounds in which the readers of lists look. */
const SPACING_MS = 100
/** A subject of log entries, so that replicas of each release may publish and receive it. */
const SUBJECT = 'executions.batch.events.changed'

/**
 * Signals that executions changed, for readers of lists. The first change is signalled at once, those within
 * SPACING_MS together: under load, a message for each commit cost NATS a fifth of its time while lists were
 * followed. Best effort; readers also look by time.
 */
export class ChangeSignals {
  readonly #bus: Pick<Bus, 'publishBestEffort'>
  /** In the order of their last changes, and not signalled yet. */
  readonly #ids = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(bus: Pick<Bus, 'publishBestEffort'>) {
    this.#bus = bus
  }

  add(execution_ids: Iterable<string>): void {
    for (const id of execution_ids) {
      this.#ids.delete(id)
      this.#ids.add(id)
    }
    if (this.#timer === undefined) this.#publish()
  }

  /** Signals what is left, at the end of the process. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#publish()
    clearTimeout(this.#timer)
  }

  #publish(): void {
    this.#timer = undefined
    if (this.#ids.size === 0) return
    const execution_ids = [...this.#ids]
    this.#ids.clear()
    this.#bus.publishBestEffort(SUBJECT, ExecutionsChanged.encode({ execution_ids }).finish())
    this.#timer = setTimeout(() => this.#publish(), SPACING_MS)
  }
}
