/*
 * The bus: two kinds of messages over NATS, with different guarantees.
 *
 * Durable events (`publishDurable`, `consumeDurable`) report to other services: a workflow was
 * uploaded, an execution finished, a worker was evicted. They go through one JetStream stream,
 * at least once, in order for each consumer.
 *
 *      service                outbox            stream EVENTS             consumer "scheduler-…"
 *        |-- commit + emit ---->|                     |                          |
 *        |                      |-- relayOutbox ----->| drops repeated event ids |
 *        |                      |<-- ack -------------|                          |
 *        |                      | delete              |-- deliver -------------->| handler
 *        |                      |                     |<-- ack / nak(delay) -----|
 *
 * Best-effort messages (`publishBestEffort`, `subscribeBestEffort`) say "look now": work is queued, a
 * log has grown, a worker's record has changed. They use core NATS, at most once. No decision relies on
 * them: each has a polling fallback that finds what a lost message left, later.
 *
 * Guarantees.
 * - A durable event whose transaction committed is delivered to every durable consumer at least once
 *   while it is younger than the MAX_AGE_MS of the stream. Handlers are idempotent.
 * - `max_ack_pending: 1` keeps the order through retries: a later event waits for the earlier one.
 * - A handler that keeps failing is retried after each pause of RETRY_MS; then the event is given up
 *   and logged, so that it cannot block those behind it. Polling of the consumer covers it.
 * - The event of a traced change carries the `traceparent` in the message itself, so that the outbox keeps
 *   it, and handling the event is a span of that trace. A NATS header would make servers since 2.11 begin
 *   traces of their own.
 * - Event ids deduplicate for DEDUPLICATION_MS. A relay that crashes between publish and delete
 *   repeats events with the same ids.
 *
 * Failures.
 * - NATS is unavailable at start: the process starts without it after three seconds, polls, and uses
 *   it as soon as the connection holds (nats-connection.ts).
 * - NATS hangs: after the first answer that does not come in time it counts as lost until it answers.
 * - NATS is lost: best-effort messages are dropped; `publishDurable` rejects at once, because its
 *   callers hold a transaction; the outbox keeps the events.
 * - NATS comes back with an empty store: stream and consumers are created again when they are found
 *   missing. Events that were published and not yet consumed are lost with the store; polling
 *   covers them.
 *
 * Services that share a process pass best-effort messages to each other directly, and to NATS only while
 * another process subscribes (messages.ts, presence.ts). Durable events always go through NATS.
 *
 * A prefix separates systems that share a server: it begins every subject and ends the name of the
 * stream.
 *
 * Cost. Publishing, storing, delivering and acknowledging one durable event for each execution cost about
 * a tenth of the execution, so only the events that have a consumer are published (loops/relay.ts of
 * executions).
 *
 * Rejected.
 * - Durable wake-ups: the same cost, for messages that a poll covers anyway.
 * - A list of filters for each consumer: one wildcard `filter_subject` works on every server since 2.9, a
 *   list does not.
 * - Several events in flight to a consumer: a retry would change their order.
 */
import { AckPolicy, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { nanos, TimeoutError } from '@nats-io/transport-node'
import { Event } from '@windlass/proto/windlass/events/v1/events'
import type { Logger } from 'pino'
import type { Colocation } from '../process/colocation.ts'
import { loop } from '../process/loop.ts'
import { inSpanOf } from '../tracing/tracing.ts'
import type { BusSubscription } from './best-effort.ts'
import { assertStream, type StreamScope, scopeOf } from './event-stream.ts'
import type { Handler } from './local-bus.ts'
import { ColocatedMessages, natsMessages } from './messages.ts'
import { type NatsLink, type NatsTls, openNatsConnection } from './nats-connection.ts'

export type EventHandler = (event: Event) => Promise<void>

/** Name and subject of a durable consumer. */
export interface Consumer {
  durable: string
  /** Subject after `events.`: `executions.execution_finished`, `catalog.>`. */
  subject: string
}

export interface Bus {
  /** True while NATS is connected and answers, as far as this process knows. */
  readonly isUp: boolean
  ping(): Promise<unknown>
  /**
   * Publishes events to JetStream, pipelined; resolves when all are acknowledged. Repeated ids are
   * dropped. Rejects at once while NATS is unavailable, because callers hold a transaction.
   */
  publishDurable(messages: DurableMessage[]): Promise<void>
  /** Publishes a message that may be lost. Never throws; without a connection the message is dropped. */
  publishBestEffort(subject: string, bytes: Uint8Array): void
  /** Subscribes to best-effort messages; `confirmed` resolves when the server has the subscription. */
  subscribeBestEffort(subject: string, handle: Handler): BusSubscription
  /** Calls `handle` for each event, at least once and in order. Replicas with the same durable name share the events. */
  consumeDurable(consumer: Consumer, handle: EventHandler): () => Promise<void>
  close(): Promise<void>
}

export interface DurableMessage {
  subject: string
  bytes: Uint8Array
  event_id: string
}

const RETRY_MS = [100, 1_000, 5_000, 30_000]
const ACK_WAIT_MS = 60_000
/** Time limit of an acknowledgement of a published event. */
const PUBLISH_MS = 3_000
const EXPIRES_MS = 5_000

/** Certificates, copies of the stream, and what the services of this process share if there are several. */
export interface BusOptions extends NatsTls {
  colocation?: Colocation | undefined
  replicas?: number
}

/** Opens the bus. NATS may be unavailable, now or later; see above for what is lost then. */
export async function openBus(
  url: string,
  log: Logger,
  prefix = '',
  { colocation, replicas = 1, tls_ca, tls_cert, tls_key }: BusOptions = {},
): Promise<Bus> {
  const scope = scopeOf(prefix, replicas)
  const link = await openNatsConnection({ url, tls_ca, tls_cert, tls_key }, log)
  const messages = colocation
    ? new ColocatedMessages(link, scope.root, colocation)
    : natsMessages(link, scope.root)

  return {
    get isUp() {
      return link.isUp
    },
    ping: async () => (await link.connecting).flush(),
    publishDurable: (events) => publishDurable(link, scope, events),
    publishBestEffort: (subject, bytes) => messages.publish(subject, bytes),
    subscribeBestEffort: (subject, handle) => messages.subscribe(subject, handle),
    consumeDurable(consumer, handle) {
      const stopping = new AbortController()
      const { signal } = stopping
      const pull = loop({ name: `consume ${consumer.durable}`, pauseMs: 500, log }, () =>
        consumeDurable(link, consumer, { handle, log, signal, scope }),
      )
      return () => {
        stopping.abort()
        return pull.stop()
      }
    },
    close() {
      messages.stop()
      return link.close()
    },
  }
}

interface ConsumeOptions {
  handle: EventHandler
  log: Logger
  signal: AbortSignal
  scope: StreamScope
}

/** Consumes until stopped or until the consumer is found missing; the loop around it creates it again. */
async function consumeDurable(
  { connection }: NatsLink,
  { durable, subject }: Consumer,
  consuming: ConsumeOptions,
): Promise<void> {
  if (consuming.signal.aborted || !connection) return
  const { scope } = consuming
  await assertStream(connection, scope)
  const manager = await jetstreamManager(connection)
  await manager.consumers.add(scope.stream, {
    durable_name: durable,
    filter_subject: `${scope.root}events.${subject}`,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT_MS),
    max_ack_pending: 1,
  })
  const consumer = await jetstream(connection).consumers.get(scope.stream, durable)
  const messages = await consumer.consume({
    max_messages: 1,
    expires: EXPIRES_MS,
    abort_on_missing_resource: true,
  })
  const stop = () => void messages.close()
  consuming.signal.addEventListener('abort', stop, { once: true })
  if (consuming.signal.aborted) stop()
  try {
    for await (const message of messages) await deliver(message, consuming)
  } finally {
    consuming.signal.removeEventListener('abort', stop)
  }
}

const CONSUMER = { kind: 'consumer', attributes: { 'messaging.system': 'nats' } } as const

/** Handles one event, in a span of its trace. After the last retry it is given up: every event has a polling fallback, so only time is lost. */
async function deliver(message: JsMsg, { handle, log }: ConsumeOptions): Promise<void> {
  const attempt = message.info.deliveryCount
  try {
    const event = Event.decode(message.data)
    await inSpanOf(event.traceparent, `process ${event.body?.$case}`, CONSUMER, () => handle(event))
    message.ack()
  } catch (error) {
    const retryMs = RETRY_MS[attempt - 1]
    log.error({ err: error, subject: message.subject, attempt, retryMs }, 'failed to handle event')
    if (retryMs === undefined) message.term()
    else message.nak(retryMs)
  }
}

async function publishDurable(
  link: NatsLink,
  scope: StreamScope,
  messages: DurableMessage[],
): Promise<void> {
  const connection = link.connection
  if (!connection) throw new Error('NATS is not connected yet')
  if (!link.isUp) throw new Error('NATS is unavailable')
  const js = jetstream(connection, { timeout: PUBLISH_MS })
  const publish = () =>
    Promise.all(
      messages.map(({ subject, bytes, event_id }) =>
        js.publish(scope.root + subject, bytes, { msgID: event_id }),
      ),
    )
  try {
    await publish()
  } catch (error) {
    if (error instanceof TimeoutError) link.onTimeout()
    if (!link.isUp) throw error
    // Usually the server came back with an empty store, without the stream.
    await assertStream(connection, scope)
    await publish()
  }
}
