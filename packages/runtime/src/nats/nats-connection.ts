import { setTimeout as pause } from 'node:timers/promises'
import { AuthorizationError, connect, type NatsConnection } from '@nats-io/transport-node'
import type { Logger } from 'pino'
import { waitAtMost } from '../timeout.ts'

/** How long a process that starts waits for NATS; then it goes on without, since NATS only saves time. */
const PATIENCE_MS = 3_000
const CONNECT_MS = 20_000
const RECONNECT_MS = 250
/** A connection that says nothing for two of these is dead, though nobody closed it. */
const PING_MS = 10_000

export interface NatsLink {
  /** The connection, once there was one; it reconnects for ever. */
  readonly connection: NatsConnection | undefined
  /** Whether it holds at this moment, as far as this process knows. */
  readonly isUp: boolean
  /** Resolves when there is one, rejects when the link is closed before. */
  readonly connecting: Promise<NatsConnection>
  close(): Promise<void>
}

/**
 * Connects to NATS, now or as soon as it can be reached: a process that starts while NATS is away
 * must serve all the same. Rejects when NATS refuses the credentials.
 */
export async function openNatsConnection(url: string, log: Logger): Promise<NatsLink> {
  const closing = new AbortController()
  const { signal } = closing
  let made: NatsConnection | undefined
  let isStarting = true
  let isUp = false

  const dial = async (): Promise<NatsConnection> => {
    for (;;) {
      signal.throwIfAborted()
      try {
        return await connect({
          ...endpointOf(url),
          ignoreAuthErrorAbort: true,
          maxReconnectAttempts: -1,
          pingInterval: PING_MS,
          reconnectTimeWait: RECONNECT_MS,
          timeout: CONNECT_MS,
        })
      } catch (error) {
        if (isStarting && isRefusal(error)) throw error
        await pause(RECONNECT_MS, undefined, { signal })
      }
    }
  }
  const making = dial().then(async (connection) => {
    if (signal.aborted) await connection.close()
    signal.throwIfAborted()
    made = connection
    isUp = true
    void watch(connection, (up) => {
      isUp = up
      if (up) log.info('NATS is reached')
      else if (!signal.aborted) log.warn('NATS is lost; work is found by looking for it')
    })
    if (!isStarting) log.info('NATS is reached')
    return connection
  })
  making.catch(() => {})

  try {
    await waitAtMost(PATIENCE_MS, making)
  } finally {
    isStarting = false
  }
  if (!made) log.warn('NATS cannot be reached yet; work is found by looking for it')
  return {
    get connection() {
      return made
    },
    get isUp() {
      return isUp
    },
    connecting: making,
    async close() {
      closing.abort()
      await made?.close()
    },
  }
}

/** Of what nats.js calls so this alone is an answer: a login that took too long says that somebody is busy. */
const isRefusal = (error: unknown) =>
  error instanceof AuthorizationError && /authorization violation/i.test(error.message)

/** Tells when a connection is lost and when it holds again, until it is closed. */
async function watch(connection: NatsConnection, tell: (isUp: boolean) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect') tell(false)
    if (type === 'reconnect') tell(true)
  }
}

/** nats.js wants credentials apart from addresses. Several servers are separated by commas. */
function endpointOf(url: string): { servers: string[]; user?: string; pass?: string } {
  const urls = url.split(',').map((one) => new URL(one))
  const [first] = urls
  const servers = urls.map(({ hostname, port }) => `${hostname}:${port || 4222}`)
  if (!first?.username) return { servers }
  const user = decodeURIComponent(first.username)
  return { servers, user, pass: decodeURIComponent(first.password) }
}
