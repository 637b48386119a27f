import { isTerminal } from '@windlass/domain/states'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { LogGrew, Progress } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/nats/bus'
import type { Logger } from '@windlass/runtime/process/log'
import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import type { Replies } from './replies.ts'
import { SharedSubscription } from './shared-subscription.ts'

const POLL_INTERVAL_MS = 1_000

interface SubscriptionDeps {
  executions: ExecutionsClient
  replies: Replies
  log: Logger
}

/**
 * Signals of executions that requests of this process wait for. An execution without a signal for
 * one second is polled.
 */
export class ExecutionSubscriptions {
  readonly grew: SharedSubscription<LogGrew>
  /** Only settled states, which most requests wait for. */
  readonly settled: SharedSubscription<LogGrew>
  readonly progress: SharedSubscription<Progress>
  readonly replies: Replies
  readonly #executions: ExecutionsClient
  readonly #poll: Loop

  constructor(bus: Bus, { executions, replies, log }: SubscriptionDeps) {
    this.#executions = executions
    this.replies = replies
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
    const signal = signalOf(execution)
    this.replies.deliver(execution.execution_id, signal)
    this.settled.deliver(execution.execution_id, signal)
  }

  stop(): Promise<void> {
    return this.#poll.stop()
  }

  async #pollSilent(): Promise<void> {
    // A failed read is repeated at the next poll.
    const poll = (execution_id: string) =>
      this.#executions.find(execution_id).catch(() => undefined)
    const sources = [this.grew, this.settled, this.replies]
    const silent = sources.flatMap((source) => source.takeSilentKeys())
    const executions = await Promise.all([...new Set(silent)].map(poll))
    for (const execution of executions) {
      if (!execution) continue
      const signal = signalOf(execution)
      for (const source of sources) source.deliver(execution.execution_id, signal)
    }
  }
}

/** Converts an execution to a signal without log entries. */
const signalOf = (execution: Execution): LogGrew => ({
  execution_id: execution.execution_id,
  state: execution.state,
  last_seq: execution.last_seq,
  entries: [],
  omitted: true,
  ended: isTerminal(execution.state) ? execution : undefined,
})
