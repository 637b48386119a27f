import { isTerminal } from '@windlass/domain/states'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { LogGrew, Progress } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/nats/bus'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { ExecutionsClient } from '../clients/executions.ts'
import { SharedSubscription } from './shared-subscription.ts'

const POLL_INTERVAL_MS = 1_000

/** What this process hears of executions that somebody here waits for. Whatever is quiet for a second is looked at. */
export class ExecutionSubscriptions {
  readonly grew: SharedSubscription<LogGrew>
  /** Only that an execution is over or paused: what most wait for. */
  readonly settled: SharedSubscription<LogGrew>
  readonly progress: SharedSubscription<Progress>
  readonly #executions: ExecutionsClient
  readonly #poll: Loop

  constructor(bus: Bus, executions: ExecutionsClient, log: Logger) {
    this.#executions = executions
    this.grew = new SharedSubscription(bus, (id) => `executions.${id}.events.*`, LogGrew.decode)
    this.settled = new SharedSubscription(
      bus,
      (id) => `executions.${id}.events.settled`,
      LogGrew.decode,
    )
    this.progress = new SharedSubscription(
      bus,
      (id) => `executions.${id}.progress`,
      Progress.decode,
    )
    this.#poll = loop({ name: 'poll', pauseMs: POLL_INTERVAL_MS, log }, () => this.#pollSilent())
  }

  /** Delivers a change made through this process without waiting for its signal. */
  deliverSettled(execution: Execution): void {
    this.settled.deliver(execution.execution_id, signalOf(execution))
  }

  stop(): Promise<void> {
    return this.#poll.stop()
  }

  async #pollSilent(): Promise<void> {
    // What cannot be seen now is looked at again in a second.
    const look = (execution_id: string) =>
      this.#executions.find(execution_id).catch(() => undefined)
    const quiet = [...this.grew.takeSilentKeys(), ...this.settled.takeSilentKeys()]
    const found = await Promise.all([...new Set(quiet)].map(look))
    for (const execution of found) {
      if (!execution) continue
      const news = signalOf(execution)
      this.grew.deliver(execution.execution_id, news)
      this.settled.deliver(execution.execution_id, news)
    }
  }
}

/** What an answer of the executions service is news of, without the log. */
const signalOf = (execution: Execution): LogGrew => ({
  execution_id: execution.execution_id,
  state: execution.state,
  last_seq: execution.last_seq,
  entries: [],
  omitted: true,
  ended: isTerminal(execution.state) ? execution : undefined,
})
