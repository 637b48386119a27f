/**
 * HTTP server with limits against clients that hold connections without a credential, and with a stop
 * that loses no request. One implementation for every public listener (gateway, MCP).
 *
 * - Slow requests: deadlines for headers and bodies, a minimum rate for bodies, and a limit of
 *   connections without an authorized request for each client address.
 * - Requests that a client sends before it has read the answers: one at a time on each connection, in a bounded
 *   queue. Answers that are not read: a deadline that grows with their size, and a limit of their bytes.
 * - Stop: the listener closes first. Responses from then on say `Connection: close`. A kept-alive
 *   connection stays open for another GRACE_MS, because a request may be on its way on it; closing at
 *   once would answer it with a reset. Node closes idle connections immediately, so its own `close` is
 *   not used.
 * - Headers of every response: no sniffing of types and no storing, unless a route says otherwise.
 */
import { createServer } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import {
  Connections,
  type HttpLimits,
  type HttpServerOptions,
  type StopOptions,
} from './connections.ts'

/** Longer than the idle timeout of load balancers, so that they close idle connections first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000
const MAX_HEADER_BYTES = 16_384
const CHECK_INTERVAL_MS = 1_000

export interface HttpServer {
  port: number
  stop(options: StopOptions): Promise<void>
}

/** Converts settings in seconds. */
export const httpLimits = (server: {
  headers_timeout: number
  body_timeout: number
  min_body_rate: number
  max_pending_connections: number
  trusted_proxies: number
  answer_timeout: number
  min_answer_rate: number
  max_body_bytes_in_flight: number
}): HttpLimits => ({
  headersTimeoutMs: server.headers_timeout * 1_000,
  bodyTimeoutMs: server.body_timeout * 1_000,
  minBodyBytesPerSecond: server.min_body_rate,
  maxPendingConnections: server.max_pending_connections,
  trustedProxies: server.trusted_proxies,
  answerTimeoutMs: server.answer_timeout * 1_000,
  minAnswerBytesPerSecond: server.min_answer_rate,
  maxUnreadBytes: server.max_body_bytes_in_flight,
})

export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, limits, log, tls } = options
  const nodeOptions = {
    keepAlive: true,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: Math.max(limits.bodyTimeoutMs, limits.headersTimeoutMs),
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node would answer without a body.
    requireHostHeader: options.requireHostHeader ?? true,
  }
  const server = tls
    ? createTlsServer({ ...nodeOptions, ...tls.options })
    : createServer(nodeOptions)
  const connections = new Connections(server, options)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  // Without a handler, a connection that cannot be accepted ends the process.
  server.on('error', (err) => log.error({ err }, 'failed to accept a connection'))
  if (tls) options.readiness?.add('certificate', tls.check)
  const stopReloading = server instanceof TlsServer ? tls?.reloadOnChange(server, log) : undefined
  return {
    port: (server.address() as AddressInfo).port,
    stop(stopOptions) {
      stopReloading?.()
      return connections.stop(stopOptions)
    },
  }
}
