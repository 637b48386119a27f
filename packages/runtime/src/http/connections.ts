import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Readiness } from '../admin/readiness.ts'
import type { Logger } from '../process/log.ts'
import type { ServerTls } from '../tls/server-tls.ts'
import { clientAddress, networkOf } from './client-address.ts'
import { addDefaultHeaders } from './default-headers.ts'
import { PendingClients } from './pending-clients.ts'
import { rawResponse, STATUS_OF_ERROR } from './raw-response.ts'
import { RequestTurns } from './request-turns.ts'
import { SlowBodies } from './slow-bodies.ts'
import { SlowReaders } from './slow-readers.ts'

const SLOW_WINDOW_MS = 10_000
/** Time that a stop leaves to requests that are on their way on kept-alive connections. */
const GRACE_MS = 300
const IDLE_CHECK_INTERVAL_MS = 50
const LINGER_MS = 1_000
/** Count of bytes of a connection that has not sent its TLS handshake: it is idle, whatever has been read. */
const NO_HANDSHAKE = -1

export interface HttpLimits {
  headersTimeoutMs: number
  bodyTimeoutMs: number
  minBodyBytesPerSecond: number
  /** Connections of one client address without an authorized request; 0 for no limit. */
  maxPendingConnections: number
  /** Number of trusted hops in X-Forwarded-For. With proxies, requests are counted instead of connections. */
  trustedProxies: number
  /** Time to read any answer, the rate at which its size adds to that, and the bytes of all unread ones. */
  answerTimeoutMs: number
  minAnswerBytesPerSecond: number
  maxUnreadBytes: number
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
  /** Called when idle connections have been closed: a client whose stream ends then reconnects to another replica. */
  onIdleClosed?: () => void
}

/**
 * Connections of one listener, from their acceptance to their end; http-server.ts says what is guaranteed.
 */
export class Connections {
  readonly #server: Server | TlsServer
  readonly #options: HttpServerOptions
  readonly #pending: PendingClients
  readonly #slow: SlowBodies
  readonly #slowReaders: SlowReaders
  readonly #authorize = new WeakMap<Socket, () => void>()
  /**
   * Connections without a request, with the bytes that had been read when the last one ended: more bytes are the
   * begin of another one. Node takes connections without any request for busy, and those for idle whose
   * complete answer is still being read.
   */
  readonly #idle = new Map<Socket, number>()
  readonly #turns = new RequestTurns((socket) => this.#idle.set(socket, socket.bytesRead))
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
    this.#slowReaders = new SlowReaders(this.#turns.responses, {
      timeoutMs: limits.answerTimeoutMs,
      minBytesPerSecond: limits.minAnswerBytesPerSecond,
      maxBytes: limits.maxUnreadBytes,
    })
    server.on('connection', (socket: Socket) => this.#connect(socket))
    server.on('secureConnection', (socket: Socket) => this.#onSecure(socket))
    server.on('request', (req, res) => this.#inTurn(req, res, () => this.#handle(req, res)))
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      if (error.code === 'ECONNRESET') socket.destroy()
      else this.#refuseNext(socket, STATUS_OF_ERROR[error.code ?? ''] ?? 400)
    })
    if (onExpectation)
      server.on('checkExpectation', (req, res) =>
        this.#inTurn(req, res, () => {
          res.shouldKeepAlive = false
          onExpectation(req, res)
        }),
      )
  }

  async stop({ drainMs, onDrain, onIdleClosed }: StopOptions): Promise<void> {
    const { promise, resolve } = withResolver()
    // Closing the listener resets connections that it has not accepted yet.
    await nextTurn()
    NetServer.prototype.close.call(this.#server, () => resolve())
    this.#isStopping = true
    for (const [socket, res] of this.#turns.responses)
      if (!this.#turns.hasNext(socket)) res.shouldKeepAlive = false
    onDrain?.()
    const forceCloseTimer = setTimeout(() => this.#closeAll(), drainMs)
    let closeIdle: NodeJS.Timeout | undefined
    const graceTimer = setTimeout(() => {
      this.#closeIdle()
      onIdleClosed?.()
      closeIdle = setInterval(() => this.#closeIdle(), IDLE_CHECK_INTERVAL_MS)
    }, GRACE_MS)
    await promise
    clearTimeout(forceCloseTimer)
    clearTimeout(graceTimer)
    clearInterval(closeIdle)
    this.#slow.stop()
    this.#slowReaders.stop()
    // Stops Node's own check of the deadlines.
    this.#server.close()
  }

  #closeIdle(): void {
    for (const [socket, bytesRead] of this.#idle)
      if (bytesRead === NO_HANDSHAKE || socket.bytesRead === bytesRead) socket.destroy()
  }

  #closeAll(): void {
    for (const socket of this.#idle.keys()) socket.destroy()
    this.#server.closeAllConnections()
  }

  #connect(socket: Socket): void {
    this.#idle.set(socket, this.#options.tls ? NO_HANDSHAKE : 0)
    socket.once('close', () => this.#idle.delete(socket))
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
    this.#idle.delete(socket)
    this.#idle.set(secure, secure.bytesRead)
    secure.once('close', () => this.#idle.delete(secure))
    const release = this.#authorize.get(socket)
    if (release) this.#authorize.set(secure, release)
  }

  #inTurn(req: IncomingMessage, res: ServerResponse, begin: () => void): void {
    const { socket } = req
    this.#idle.delete(socket)
    if (this.#refused.has(socket)) return
    this.#turns.add(socket, res, () => {
      addDefaultHeaders(res)
      if (this.#isStopping && !this.#turns.hasNext(socket)) res.shouldKeepAlive = false
      this.#slowReaders.start()
      begin()
    })
  }

  #handle(req: IncomingMessage, res: ServerResponse): void {
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

  /**
   * Refuses what cannot be read as a request. While an earlier request is being answered, the refusal would look like
   * its answer, so the connection then closes after that.
   */
  #refuseNext(socket: Socket, status: number): void {
    const res = this.#turns.responses.get(socket)
    if (!res?.req.complete || res.closed) return void this.#refuse(socket, status)
    this.#refused.add(socket)
    this.#turns.forget(socket)
    res.shouldKeepAlive = false
    res.once('close', () => socket.destroySoon())
  }

  /** Answers in the format of this API and closes; a response whose headers were already sent is cut off. */
  #refuse(socket: Socket, status: number): void {
    this.#refused.add(socket)
    if (!socket.writable || this.#turns.responses.get(socket)?.headersSent)
      return void socket.destroy()
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
