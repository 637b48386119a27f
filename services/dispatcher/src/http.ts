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
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import type { Logger } from '@windlass/runtime/process/log'
import { PING } from './domain/frame.ts'
import { isName } from './domain/names.ts'

const MAX_STREAMS = 20_000
const RETRY_SECONDS = 1
/** How long the stream of a dead session is held: long enough for its ping to be answered, and so found out. */
const REJECTED_HOLD_MS = 3_000

/** Opens the stream of a worker, or says why not. */
export type OpenStream = (
  request: { name: string; session: string | undefined },
  response: ServerResponse,
) => Promise<'opened' | 'unknown_worker' | 'session_ended'>

/** The listener for worker streams: `GET /workers/{name}/connect` from the gateway, and nothing else. */
export function createStreamServer(
  open: OpenStream,
  serviceIdentity: ServiceIdentity,
  log: Logger,
): Server {
  const server = createHttpServer(serviceIdentity, (request, response) => {
    if (serviceIdentity.authenticateService(bearerToken(request)) !== 'gateway')
      return sendError(response, 401, 'no credential of this cluster', {
        'WWW-Authenticate': 'Bearer',
      })
    handleRequest(open, request, response).catch((error) => {
      log.warn({ err: error }, 'stream was not opened')
      if (response.headersSent) response.destroy()
      else
        sendError(response, 503, 'The dispatcher cannot be reached', {
          'Retry-After': RETRY_SECONDS,
        })
    })
  })
  server.maxConnections = MAX_STREAMS
  // Without a handler a connection that cannot be accepted would end the process.
  server.on('error', (err) => log.error({ err }, 'failed to listen or to accept a connection'))
  return server
}

function createHttpServer({ tls }: ServiceIdentity, listener: RequestListener): Server {
  if (!tls) return createServer(listener)
  const { ca, cert, key } = tls
  return createSecureServer({ ca, cert, key, requestCert: true }, listener)
}

const bearerToken = ({ headers: { authorization = '' } }: IncomingMessage): string =>
  authorization.replace(/^Bearer /, '')

async function handleRequest(open: OpenStream, request: IncomingMessage, response: ServerResponse) {
  const name = parseWorkerName(request.url ?? '')
  if (name === undefined) return sendError(response, 404, 'Not Found')
  if (request.method !== 'GET')
    return sendError(response, 405, 'Method Not Allowed', { Allow: 'GET' })
  if (!isName(name)) return sendError(response, 404, unknownWorker(name))
  const session = request.headers['x-windlass-session']
  const outcome = await open({ name, session: session?.toString() }, response)
  if (outcome === 'unknown_worker') sendError(response, 404, unknownWorker(name))
  if (outcome === 'session_ended') rejectEndedSession(response)
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
 * A worker of the reference release does not look at the status of its stream, only at what a POST
 * answers: so it is pinged once, finds its pong refused, and registers anew.
 */
function rejectEndedSession(response: ServerResponse): void {
  response.writeHead(401, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
    'WWW-Authenticate': 'Bearer',
  })
  response.write(PING)
  const holdTimer = setTimeout(() => response.end(), REJECTED_HOLD_MS)
  response.on('close', () => clearTimeout(holdTimer))
}

/** Answers the port that the server got. */
export async function listen(server: Server, address: { host: string; port: number }) {
  server.listen(address.port, address.host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
