/*
 * Presence: finds out whether other processes subscribe to best-effort messages.
 *
 * Services of one process pass best-effort messages to each other directly (local-bus.ts). They publish
 * to NATS only while another process is there that may subscribe. NATS answers a request at once if its
 * subject has no subscriber, so each process with a connection of its own subscribes to one more
 * subject, without ever answering, and a shared process sends a request to it in each interval.
 *
 *   shared process                NATS                     another gateway
 *        |-- request ------------->|                              |
 *        |<- no responders --------|                              |   no other process
 *        |                         |<-- subscribe ----------------|
 *        |-- request ------------->|-- (ignored) ---------------->|   no answer: another process
 *
 * The subjects are ones that the services may already use, so permissions at NATS need no change. A
 * process of an earlier release is not found; it polls, as it does after any lost message.
 */
import { errors, type NatsConnection } from '@nats-io/transport-node'
import { startSharedInterval } from '../process/shared-interval.ts'

/** Time between two requests. */
const PROBE_INTERVAL_MS = 1_000
/** NATS refuses at once; a request without an answer within this time was delivered. */
const ANSWER_MS = 250

/** The subject on which subscribers of a subject are found. No name of the product contains `$`. */
export function presenceSubjectOf(subject: string): string {
  if (!subject.startsWith('executions.')) return 'workers.$present'
  return subject.endsWith('.progress')
    ? 'executions.$present.progress'
    : 'executions.$present.events.$present'
}

/** Knows whether other processes subscribe to one presence subject. */
export class PresenceProbe {
  readonly #subject: string
  readonly #connectionOf: () => NatsConnection | undefined
  /** Ends the requests. */
  readonly stop: () => void
  /** False until the first request: other processes are the exception, and they poll. */
  areOthersPresent = false

  /** Sends requests to a subject, until stopped. */
  constructor(subject: string, connectionOf: () => NatsConnection | undefined) {
    this.#subject = subject
    this.#connectionOf = connectionOf
    this.stop = startSharedInterval(PROBE_INTERVAL_MS, () => void this.#probe())
    void this.#probe()
  }

  async #probe(): Promise<void> {
    const connection = this.#connectionOf()
    if (!connection || connection.isClosed()) return
    try {
      await connection.request(this.#subject, undefined, { timeout: ANSWER_MS })
      this.areOthersPresent = true
    } catch (error) {
      if (isUnheard(error)) this.areOthersPresent = false
      else if (error instanceof errors.TimeoutError) this.areOthersPresent = true
    }
  }
}

const isUnheard = (error: unknown): boolean =>
  error instanceof errors.NoRespondersError ||
  (error instanceof errors.RequestError && error.isNoResponders())
