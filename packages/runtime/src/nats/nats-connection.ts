import { isIP } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import {
  AuthorizationError,
  connect,
  type NatsConnection,
  type TlsOptions,
} from '@nats-io/transport-node'
import type { Logger } from 'pino'
import { countDependencyFailure } from '../dependency-failures.ts'
import { waitAtMost } from '../timeout.ts'

/** A starting process waits this long for NATS, then starts without it; polling replaces its messages. */
const START_WAIT_MS = 3_000
const CONNECT_MS = 20_000
const RECONNECT_MS = 250
/** A connection without an answer to two pings is dead, although it was not closed. */
const PING_MS = 10_000

export interface NatsTls {
  tls_ca?: string | undefined
  tls_cert?: string | undefined
  tls_key?: string | undefined
}

/** The [svc.nats] table. */
export interface NatsEndpoint extends NatsTls {
  url: string
}

interface NatsOptions {
  servers: string[]
  user?: string
  pass?: string
  tls?: TlsOptions
}

export interface NatsLink {
  /** The connection, once established; it reconnects without limit. */
  readonly connection: NatsConnection | undefined
  /** True while it is connected and answers, as far as this process knows. */
  readonly isUp: boolean
  /** Marks it unavailable until it answers a ping: an answer was due and did not come. */
  onTimeout(): void
  /** Resolves when the connection is established; rejects when the link is closed before that. */
  readonly connecting: Promise<NatsConnection>
  close(): Promise<void>
}

/**
 * Connects to NATS now, or later if it is unavailable: a process must start and serve without NATS.
 * Rejects when NATS refuses the credentials.
 */
export async function openNatsConnection(
  { url, ...tls }: NatsEndpoint,
  log: Logger,
): Promise<NatsLink> {
  const endpoint = endpointOf(url, tls)
  const closing = new AbortController()
  const { signal } = closing
  let made: NatsConnection | undefined
  let isStarting = true
  let lastError: unknown
  let isUp = false

  const setUp = (up: boolean) => {
    if (up === isUp) return
    isUp = up
    if (up) log.info('NATS connected')
    else if (!signal.aborted) log.warn('NATS connection lost; polling until it is restored')
  }

  const connectUntilClosed = async (): Promise<NatsConnection> => {
    for (;;) {
      signal.throwIfAborted()
      try {
        return await connect({
          ...endpoint,
          ignoreAuthErrorAbort: true,
          maxReconnectAttempts: -1,
          pingInterval: PING_MS,
          reconnectTimeWait: RECONNECT_MS,
          timeout: CONNECT_MS,
        })
      } catch (error) {
        lastError = error
        if (isStarting && isRefusal(error)) throw error
        await pause(RECONNECT_MS, undefined, { signal })
      }
    }
  }
  const making = connectUntilClosed().then(async (connection) => {
    if (signal.aborted) await connection.close()
    signal.throwIfAborted()
    made = connection
    isUp = true
    void watch(connection, setUp)
    log.info({ version: connection.info?.version }, 'NATS connected')
    return connection
  })
  making.catch(() => {})

  try {
    await waitAtMost(START_WAIT_MS, making)
  } finally {
    isStarting = false
  }
  if (!made)
    log.warn({ err: lastError }, 'failed to connect to NATS; polling until it is connected')
  return {
    get connection() {
      return made
    },
    get isUp() {
      return isUp
    },
    connecting: making,
    onTimeout() {
      countDependencyFailure('nats', 'timeout')
      setUp(false)
      made?.flush().then(
        () => setUp(true),
        () => {},
      )
    },
    async close() {
      closing.abort()
      await made?.close()
    },
  }
}

/**
 * True if the server rejected the credentials. nats.js reports a login that timed out with the same class.
 */
const isRefusal = (error: unknown) =>
  error instanceof AuthorizationError && /authorization violation/i.test(error.message)

/** Reports when a connection is lost and restored, until it is closed. */
async function watch(connection: NatsConnection, onChange: (isUp: boolean) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect') onChange(false)
    if (type === 'reconnect') onChange(true)
  }
}

const SCHEMES = ['nats:', 'tls:']

/**
 * Splits a URL for nats.js, which takes credentials and TLS separately from addresses. Commas separate
 * servers. A `tls:` URL requires TLS from the server, so that a connection is never silently unencrypted.
 */
function endpointOf(url: string, { tls_ca, tls_cert, tls_key }: NatsTls): NatsOptions {
  const urls = url.split(',').map((one) => new URL(one))
  const [first] = urls
  const schemes = new Set(urls.map(({ protocol }) => protocol))
  const [scheme = ''] = schemes
  if (schemes.size > 1 || !SCHEMES.includes(scheme))
    throw new Error('[svc.nats].url must begin with nats:// or tls://, the same for all servers')
  if (scheme === 'nats:' && (tls_ca || tls_cert || tls_key))
    throw new Error('[svc.nats] has certificates: begin its url with tls://')
  // nats.js names no host for an address, and Node would compare the certificate with `localhost`.
  const host = isIP(first?.hostname ?? '') ? { host: first?.hostname } : {}
  const files = { caFile: tls_ca, certFile: tls_cert, keyFile: tls_key, ...host }
  if (scheme === 'tls:' && urls.length > 1 && urls.some(({ hostname }) => isIP(hostname)))
    throw new Error('[svc.nats].url: several tls:// servers need host names, not addresses')
  const servers = {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port || 4222}`),
    ...(scheme === 'tls:' && { tls: files }),
  }
  if (!first?.username) return servers
  const user = decodeURIComponent(first.username)
  return { ...servers, user, pass: decodeURIComponent(first.password) }
}
