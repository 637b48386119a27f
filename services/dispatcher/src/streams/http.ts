import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { plainNameOf } from '@windlass/domain/names'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import type { Logger } from '@windlass/runtime/process/log'
import { startSharedInterval } from '@windlass/runtime/process/shared-interval'
import { PING } from '../domain/frame.ts'
import type { GatewayWatch } from '../engine/gateway-watch.ts'

const MAX_STREAMS = 20_000
const BEARER = { 'WWW-Authenticate': 'Bearer' }
/** The body of a request without a credential is not awaited. */
const REFUSED = { ...BEARER, Connection: 'close' }
const RETRY = { 'Retry-After': 1 }
/** Time that the stream of an ended session stays open: enough for its ping to be answered and refused. */
const REJECTED_HOLD_MS = 3_000

/** Far below the time after which a gateway considers this process hung. */
const BEAT_MS = 250

/** Process id of a gateway, sent with its worker streams and its request for beats. */
const GATEWAY_HEADER = 'x-windlass-gateway'

/** Opens the stream of a worker, or returns the reason why it cannot. */
export type OpenStream = (
  request: { name: string; session: string | undefined; gateway: string | undefined },
  response: ServerResponse,
) => Promise<'opened' | 'unknown_worker' | 'session_ended'>

/**
 * Creates the listener for worker streams, for gateways only. `GET /workers/{name}/connect` opens a stream.
 * `GET /beats` lets a gateway notice that this process hangs, and `POST /beats` also lets this process
 * notice that the gateway does.
 */
export function createStreamServer(
  { open, gateways, identity }: StreamServerDeps,
  log: Logger,
): Server {
  const server = createHttpServer(identity, (request, response) => {
    if (identity.authenticateService(bearerToken(request)) !== 'gateway')
      return sendError(response, 401, 'no credential of this cluster', REFUSED)
    handleRequest({ open, gateways, server }, request, response).catch((error) => {
      log.warn({ err: error }, 'failed to open worker stream')
      if (response.headersSent) response.destroy()
      else sendError(response, 503, 'The dispatcher cannot be reached', RETRY)
    })
  })
  server.maxConnections = MAX_STREAMS
  // The body of a request for beats does not end.
  server.requestTimeout = 0
  // Without a handler, a connection that cannot be accepted would end the process.
  server.on('error', (err) => log.error({ err }, 'failed to listen or to accept a connection'))
  return server
}

interface StreamServerDeps {
  open: OpenStream
  gateways: GatewayWatch
  identity: ServiceIdentity
}

function createHttpServer({ tls }: ServiceIdentity, listener: RequestListener): Server {
  if (!tls) return createServer(listener)
  const { ca, cert, key } = tls
  const server = createSecureServer({ ca, cert, key, requestCert: true }, listener)
  const stop = tls.onChange?.(() => {
    const { ca, cert, key } = tls
    server.setSecureContext({ ca, cert, key })
  })
  if (stop) server.once('close', stop)
  return server
}

const bearerToken = ({ headers: { authorization = '' } }: IncomingMessage): string =>
  authorization.replace(/^Bearer /, '')

async function handleRequest(
  { open, gateways, server }: Omit<StreamServerDeps, 'identity'> & { server: Server },
  request: IncomingMessage,
  response: ServerResponse,
) {
  const gateway = request.headers[GATEWAY_HEADER]?.toString()
  if (request.url === '/beats') {
    if (gateway && request.method === 'POST') gateways.follow(gateway, request)
    return sendBeats(response, server)
  }
  const name = parseWorkerName(request.url ?? '')
  if (name === undefined) return sendError(response, 404, 'Not Found')
  if (request.method !== 'GET')
    return sendError(response, 405, 'Method Not Allowed', { Allow: 'GET' })
  if (plainNameOf(name) === undefined) return sendError(response, 404, unknownWorker(name))
  const session = request.headers['x-windlass-session']
  const outcome = await open({ name, session: session?.toString(), gateway }, response)
  if (outcome === 'unknown_worker') sendError(response, 404, unknownWorker(name))
  if (outcome === 'session_ended') rejectEndedSession(response)
}

/** Sends a byte at each interval until the gateway closes the connection or this process stops. */
function sendBeats(response: ServerResponse, server: Server): void {
  response.writeHead(200, { 'Content-Type': 'text/plain' })
  response.write('.')
  const beat = () => (server.listening ? response.write('.') : response.end())
  response.on('close', startSharedInterval(BEAT_MS, beat))
}

const unknownWorker = (name: string) => `Worker '${name}' not found`

function parseWorkerName(url: string): string | undefined {
  const [, encoded] = /^\/workers\/([^/?#]+)\/connect(?:\?.*)?$/.exec(url) ?? []
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

function sendError(
  response: ServerResponse,
  status: number,
  detail: string,
  headers: Record<string, string | number> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(JSON.stringify({ detail }))
}

/**
 * Answers 401 with an event stream of one ping. Some workers ignore the status of their stream, but not
 * that of a POST: their pong is refused, and they register again.
 */
function rejectEndedSession(response: ServerResponse): void {
  const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' }
  response.writeHead(401, { ...headers, ...BEARER })
  response.write(PING)
  const holdTimer = setTimeout(() => response.end(), REJECTED_HOLD_MS)
  response.on('close', () => clearTimeout(holdTimer))
}

/** Starts listening, within this process too; returns the port. */
export async function listen(
  server: Server,
  address: { host: string; port: number },
  { tls, colocation }: ServiceIdentity,
): Promise<number> {
  server.listen(address.port, address.host)
  await once(server, 'listening')
  if (colocation && !tls) colocation.connectToStreams = () => connectLocally(server)
  return (server.address() as AddressInfo).port
}

/** Opens a connection without a socket: what one end writes, the other reads, without a system call. */
function connectLocally(server: Server): Duplex | undefined {
  if (!server.listening) return undefined
  const [client, accepted] = duplexPair()
  server.emit('connection', accepted)
  return client
}
