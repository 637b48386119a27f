import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Readiness } from '../admin/readiness.ts'
import type { Logger } from '../process/log.ts'
import type { ServerTls } from '../tls/server-tls.ts'
import { clientAddress, networkOf } from './client-address.ts'
import { addDefaultHeaders } from './default-headers.ts'
import { PendingClients } from './pending-clients.ts'
import { SlowBodies } from './slow-bodies.ts'

const SLOW_WINDOW_MS = 10_000
/** Time that a stop leaves to requests that are on their way on kept-alive connections. */
const GRACE_MS = 300
const IDLE_CHECK_INTERVAL_MS = 50
const LINGER_MS = 1_000

export interface HttpLimits {
  headersTimeoutMs: number
  bodyTimeoutMs: number
  minBodyBytesPerSecond: number
  /** Connections of one client address without an authorized request; 0 for no limit. */
  maxPendingConnections: number
  /** Number of trusted hops in X-Forwarded-For. With proxies, requests are counted instead of connections. */
  trustedProxies: number
  slowWindowMs?: number
}

export interface HttpServerOptions {
  host: string
  port: number
  limits: HttpLimits
  log: Logger
  /** Absent: plain HTTP. */
  tls?: ServerTls | undefined
  /** Not ready while the certificate of `tls` has expired. */
  readiness?: Pick<Readiness, 'add'>
  /** False if `onRequest` checks it. */
  requireHostHeader?: boolean
  /** `onAuthorized` must be called when the client has proved a right to be served. */
  onRequest(req: IncomingMessage, res: ServerResponse, onAuthorized: () => void): void
  onExpectation?: ((req: IncomingMessage, res: ServerResponse) => void) | undefined
}

export interface StopOptions {
  /** Connections that are still open after this time are closed. */
  drainMs: number
  /** Called once no new connection is accepted. */
  onDrain?: () => void
}

/**
 * Connections of one listener, from their acceptance to their end; http-server.ts says what is guaranteed.
 */
export class Connections {
  readonly #server: Server | TlsServer
  readonly #options: HttpServerOptions
  readonly #pending: PendingClients
  readonly #slow: SlowBodies
  readonly #authorize = new WeakMap<Socket, () => void>()
  /** Connections without a request, which Node does not count as idle. */
  readonly #unused = new Set<Socket>()
  readonly #responses = new Map<Socket, ServerResponse>()
  readonly #refused = new WeakSet<Socket>()
  #isStopping = false

  /** Connections in their TLS handshake, by the port and address of the client. */
  readonly #handshakes = new Map<string, Socket>()

  constructor(server: Server | TlsServer, options: HttpServerOptions) {
    this.#server = server
    this.#options = options
    const { limits, onExpectation } = options
    this.#pending = new PendingClients(limits.maxPendingConnections)
    this.#slow = new SlowBodies({
      minBytesPerSecond: limits.minBodyBytesPerSecond,
      windowMs: limits.slowWindowMs ?? SLOW_WINDOW_MS,
      onSlow: ({ socket }) => this.#refuse(socket, 408),
    })
    server.on('connection', (socket: Socket) => this.#connect(socket))
    server.on('secureConnection', (socket: Socket) => this.#onSecure(socket))
    server.on('request', (req, res) => this.#handle(req, res))
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      if (error.code === 'ECONNRESET') socket.destroy()
      else this.#refuse(socket, STATUS_OF_ERROR[error.code ?? ''] ?? 400)
    })
    if (onExpectation)
      server.on('checkExpectation', (req, res) => {
        this.#open(req, res)
        res.shouldKeepAlive = false
        onExpectation(req, res)
      })
  }

  async stop({ drainMs, onDrain }: StopOptions): Promise<void> {
    const { promise, resolve } = withResolver()
    // Closing the listener resets connections that it has not accepted yet.
    await nextTurn()
    NetServer.prototype.close.call(this.#server, () => resolve())
    this.#isStopping = true
    for (const res of this.#responses.values()) res.shouldKeepAlive = false
    onDrain?.()
    const forceCloseTimer = setTimeout(() => this.#closeAll(), drainMs)
    let closeIdle: NodeJS.Timeout | undefined
    const graceTimer = setTimeout(() => {
      // Behind TLS, the handshake has been read, too.
      for (const socket of this.#unused)
        if (socket.bytesRead === 0 || this.#options.tls) socket.destroy()
      this.#server.closeIdleConnections()
      closeIdle = setInterval(() => this.#server.closeIdleConnections(), IDLE_CHECK_INTERVAL_MS)
    }, GRACE_MS)
    await promise
    clearTimeout(forceCloseTimer)
    clearTimeout(graceTimer)
    clearInterval(closeIdle)
    this.#slow.stop()
    // Stops Node's own check of the deadlines.
    this.#server.close()
  }

  #closeAll(): void {
    for (const socket of this.#unused) socket.destroy()
    this.#server.closeAllConnections()
  }

  #connect(socket: Socket): void {
    this.#unused.add(socket)
    socket.once('close', () => this.#unused.delete(socket))
    if (this.#options.tls) {
      const peer = peerOf(socket)
      this.#handshakes.set(peer, socket)
      socket.once('close', () => this.#handshakes.delete(peer))
    }
    if (this.#options.limits.trustedProxies > 0) return
    const release = this.#pending.add(networkOf(socket.remoteAddress ?? ''))
    if (release) {
      this.#authorize.set(socket, release)
      socket.once('close', release)
    } else if (this.#options.tls) socket.destroy()
    else this.#refuse(socket, 503)
  }

  /** After the handshake Node reports requests with the TLS socket instead of the connection's socket. */
  #onSecure(secure: Socket): void {
    const socket = this.#handshakes.get(peerOf(secure))
    if (!socket) return
    this.#handshakes.delete(peerOf(secure))
    this.#unused.delete(socket)
    this.#unused.add(secure)
    secure.once('close', () => this.#unused.delete(secure))
    const release = this.#authorize.get(socket)
    if (release) this.#authorize.set(secure, release)
  }

  #handle(req: IncomingMessage, res: ServerResponse): void {
    this.#unused.delete(req.socket)
    if (this.#refused.has(req.socket)) return
    this.#open(req, res)
    const onAuthorized = this.#admit(req, res)
    if (onAuthorized) {
      this.#slow.watch(req)
      this.#options.onRequest(req, res, onAuthorized)
    } else this.#refuse(req.socket, 503)
  }

  /** Returns undefined above the limit of the client behind a proxy. */
  #admit(req: IncomingMessage, res: ServerResponse): (() => void) | undefined {
    const { trustedProxies } = this.#options.limits
    if (trustedProxies === 0) return this.#authorize.get(req.socket) ?? noop
    const release = this.#pending.add(clientAddress(req, trustedProxies))
    if (release) res.once('close', release)
    return release
  }

  #open({ socket }: IncomingMessage, res: ServerResponse): void {
    addDefaultHeaders(res)
    if (this.#isStopping) res.shouldKeepAlive = false
    this.#responses.set(socket, res)
    res.once('close', () => {
      if (this.#responses.get(socket) === res) this.#responses.delete(socket)
    })
  }

  /** Answers in the format of this API and closes; a response whose headers were already sent is cut off. */
  #refuse(socket: Socket, status: number): void {
    this.#refused.add(socket)
    if (!socket.writable || this.#responses.get(socket)?.headersSent) return void socket.destroy()
    socket.end(rawResponse(status))
    // Closing with unread bytes would reset the connection before the client has read the response.
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remotePort} ${remoteAddress}`

const noop = () => {}

function withResolver() {
  let resolve = noop
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve: () => resolve() }
}

const STATUS_OF_ERROR: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

function rawResponse(status: number): string {
  const body = JSON.stringify({ detail: STATUS_CODES[status] })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...(status === 503 ? ['Retry-After: 1'] : []),
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
