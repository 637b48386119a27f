import {
  AckPolicy,
  DiscardPolicy,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import {
  type NatsConnection,
  nanos,
  type Subscription,
  TimeoutError,
} from '@nats-io/transport-node'
import { Event } from '@windlass/proto/windlass/events/v1/events'
import type { Logger } from 'pino'
import { loop } from '../process/loop.ts'
import { type NatsLink, openNatsConnection } from './nats-connection.ts'

export type EventHandler = (event: Event) => Promise<void>

/** How a durable consumer of events is named and what it hears. */
export interface Consumer {
  durable: string
  /** The end of the subject, after `events.`: `executions.execution_finished`, `catalog.>`. */
  subject: string
}

export interface Bus {
  /** Whether NATS is there at this moment, as far as this process knows. */
  readonly isUp: boolean
  ping(): Promise<unknown>
  /**
   * Publishes events to JetStream, pipelined, and resolves when all are acknowledged. Repeats are
   * dropped by id. Fails at once while NATS is away, since callers hold locks meanwhile.
   */
  publishDurable(messages: DurableMessage[]): Promise<void>
  /** Sends what may be lost. Never throws: without a connection it is lost at once. */
  publishBestEffort(subject: string, bytes: Uint8Array): void
  /** Hears what is whispered from now on; `flushed` resolves when the server knows of it. */
  subscribeBestEffort(
    subject: string,
    hear: (bytes: Uint8Array, subject: string) => void,
  ): BusSubscription
  /** Hands each event to `handle` at least once, in order. Replicas with one durable name share the work. */
  consumeDurable(consumer: Consumer, handle: EventHandler): () => Promise<void>
  close(): Promise<void>
}

export interface DurableMessage {
  subject: string
  bytes: Uint8Array
  event_id: string
}

export interface BusSubscription {
  flushed(): Promise<unknown>
  stop(): void
}

const RETRY_MS = [100, 1_000, 5_000, 30_000]
const ACK_WAIT_MS = 60_000
/** How long an acknowledgement of what is published may take. */
const PUBLISH_MS = 3_000
const EXPIRES_MS = 5_000
const DEDUPLICATION_MS = 600_000
const KEEP_MS = 24 * 3_600_000

/**
 * The bus over NATS, which may be away, also at the start: then what is whispered is lost, and the
 * rest is taken up when it comes. The stream and its consumers are asserted anew whenever they are
 * found missing, since a server may come back with an empty store. With a prefix it hears and says
 * nothing outside of it, so that several systems can share one server.
 */
export async function openBus(url: string, log: Logger, prefix = ''): Promise<Bus> {
  const place = scopeOf(prefix)
  const link = await openNatsConnection(url, log)

  return {
    get isUp() {
      return link.isUp
    },
    ping: async () => (await link.connecting).flush(),
    publishDurable: (messages) => publishDurable(link, place, messages),
    publishBestEffort: (subject, bytes) => publishBestEffort(link, place.root + subject, bytes),
    subscribeBestEffort: (subject, hear) =>
      subscribeBestEffort(link, place.root + subject, (bytes, heard) =>
        hear(bytes, heard.slice(place.root.length)),
      ),
    consumeDurable(consumer, handle) {
      const stopping = new AbortController()
      const { signal } = stopping
      const pull = loop({ name: `consume ${consumer.durable}`, pauseMs: 500, log }, () =>
        consumeDurable(link, consumer, { handle, log, signal, scope: place }),
      )
      return () => {
        stopping.abort()
        return pull.stop()
      }
    },
    close: () => link.close(),
  }
}

/** Where on the server one system lives. */
interface StreamScope {
  /** Before every subject. */
  root: string
  stream: string
}

const scopeOf = (prefix: string): StreamScope =>
  prefix ? { root: `${prefix}.`, stream: `EVENTS-${prefix}` } : { root: '', stream: 'EVENTS' }

function publishBestEffort({ connection }: NatsLink, subject: string, bytes: Uint8Array): void {
  try {
    connection?.publish(subject, bytes)
  } catch {
    // Closing or over the server's limit: a nudge may be lost, someone looks anyway.
  }
}

function subscribeBestEffort(
  { connection, connecting }: NatsLink,
  subject: string,
  hear: (bytes: Uint8Array, subject: string) => void,
): BusSubscription {
  let isStopped = false
  let subscription: Subscription | undefined
  const subscribe = (connection: NatsConnection) => {
    if (isStopped) return
    subscription = connection.subscribe(subject, {
      callback: (error, message) => {
        if (!error) hear(message.data, message.subject)
      },
    })
  }
  if (connection) subscribe(connection)
  else connecting.then(subscribe).catch(() => {})
  return {
    flushed: async () => (await connecting).flush(),
    stop() {
      isStopped = true
      subscription?.unsubscribe()
    },
  }
}

interface ConsumeOptions {
  handle: EventHandler
  log: Logger
  signal: AbortSignal
  scope: StreamScope
}

/** Takes events until told to stop, or until the consumer is found missing; the loop around it begins again. */
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

/** What keeps failing is logged and given up: every event has a polling fallback, so only time is lost. */
async function deliver(message: JsMsg, { handle, log }: ConsumeOptions): Promise<void> {
  const attempt = message.info.deliveryCount
  try {
    await handle(Event.decode(message.data))
    message.ack()
  } catch (error) {
    const retryMs = RETRY_MS[attempt - 1]
    log.error({ err: error, subject: message.subject, attempt, retryMs }, 'event not handled')
    if (retryMs === undefined) message.term()
    else message.nak(retryMs)
  }
}

async function publishDurable(
  link: NatsLink,
  place: StreamScope,
  messages: DurableMessage[],
): Promise<void> {
  const connection = link.connection
  if (!connection) throw new Error('NATS has not been reached yet')
  if (!link.isUp) throw new Error('NATS is out of reach')
  const js = jetstream(connection, { timeout: PUBLISH_MS })
  const publish = () =>
    Promise.all(
      messages.map(({ subject, bytes, event_id }) =>
        js.publish(place.root + subject, bytes, { msgID: event_id }),
      ),
    )
  try {
    await publish()
  } catch (error) {
    if (error instanceof TimeoutError || !link.isUp) throw error
    // The usual reason is that the store came back empty, and the stream with it.
    await assertStream(connection, place)
    await publish()
  }
}

/** Makes the stream of events if it is not there. */
async function assertStream(
  connection: NatsConnection,
  { root, stream }: StreamScope,
): Promise<void> {
  const manager = await jetstreamManager(connection)
  await manager.streams.add({
    name: stream,
    subjects: [`${root}events.>`],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_age: nanos(KEEP_MS),
    duplicate_window: nanos(DEDUPLICATION_MS),
  })
}
