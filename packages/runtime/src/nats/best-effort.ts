import type { Msg, MsgHdrs, NatsConnection, Subscription } from '@nats-io/transport-node'
import { waitAtMost } from '../timeout.ts'
import type { NatsLink } from './nats-connection.ts'

/** Time limit of the confirmation of a subscription. */
const CONFIRM_MS = 1_000

export interface BusSubscription {
  /** Resolves when the server has the subscription; after CONFIRM_MS, or at once, while NATS does not answer. */
  confirmed(): Promise<void>
  stop(): void
}

/** Publishes a message that may be lost. */
export function publishBestEffort(
  { connection }: NatsLink,
  subject: string,
  bytes: Uint8Array,
  headers?: MsgHdrs,
): void {
  try {
    connection?.publish(subject, bytes, headers && { headers })
  } catch {
    // The connection is closing or the message is too large: a best-effort message may be lost, and polling
    // covers it.
  }
}

/** Waits for an answer of the server; polling finds what is missed without one. */
async function confirm(link: NatsLink): Promise<void> {
  if (!link.isUp) return
  let isAnswered = false
  const flushing = link.connection?.flush().then(() => {
    isAnswered = true
  })
  await waitAtMost(CONFIRM_MS, Promise.resolve(flushing)).catch(() => {})
  if (!isAnswered) link.onTimeout()
}

/** Subscribes now, or when the connection is established. */
export function subscribeBestEffort(
  link: NatsLink,
  subject: string,
  handle: (message: Msg) => void,
): BusSubscription {
  const { connection, connecting } = link
  let isStopped = false
  let subscription: Subscription | undefined
  const subscribe = (connection: NatsConnection) => {
    if (isStopped) return
    subscription = connection.subscribe(subject, {
      callback: (error, message) => {
        if (!error) handle(message)
      },
    })
  }
  if (connection) subscribe(connection)
  else connecting.then(subscribe).catch(() => {})
  return {
    confirmed: () => confirm(link),
    stop() {
      isStopped = true
      subscription?.unsubscribe()
    },
  }
}
