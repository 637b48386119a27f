import { LogGrew } from '@windlass/proto/windlass/signals/v1/signals'
import { newId } from '@windlass/runtime/ids'
import type { Bus } from '@windlass/runtime/nats/bus'
import { KeyedHandlers } from './keyed-handlers.ts'

/**
 * Signals that executions created by this process have settled, on a subject of its own: a subscription for
 * each waiting request would cost three messages and an answer of the NATS server. The subject is one that
 * the gateway's NATS user may subscribe to in any case.
 */
export class Replies extends KeyedHandlers<LogGrew> {
  /** Name of this process; a create carries it, and the execution keeps it. */
  readonly name = newId()

  constructor(bus: Pick<Bus, 'subscribeBestEffort'>) {
    super()
    bus.subscribeBestEffort(`executions.${this.name}.events.reply`, (bytes) => {
      const grew = LogGrew.decode(bytes)
      this.receive(grew.execution_id, grew)
    })
  }
}
