import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Fault, unavailable } from '@windlass/runtime/faults'
import { createWebRequestGuard } from '@windlass/runtime/web-requests'
import type { Route } from '../route/route.ts'
import type { ServerContext } from './handle.ts'
import { discardBody, hasBody } from './read-body.ts'
import { countHeader, RequestContext } from './request-context.ts'
import { logRequest } from './request-log.ts'
import { sendFault, sendJson } from './response.ts'
import { createRouter } from './router.ts'

/** Longer than the idle timeout of load balancers, so that they close idle connections first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000
const HEADERS_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 120_000
const MAX_HEADER_BYTES = 16_384
/** Time that a stop leaves to responses in progress, and to requests that wait for an execution. */
const DRAIN_TIMEOUT_MS = 10_000
const WAITING_TIMEOUT_MS = 3_000
const IDLE_CHECK_INTERVAL_MS = 50
const STOPPING = unavailable('the server is stopping')

export interface HttpServer {
  port: number
  stop(): Promise<void>
}

/**
 * With two Host headers a proxy may use one and Node the other, so such requests are refused (RFC
 * 9112, 3.2).
 */
function hostFault({ rawHeaders, httpVersion }: IncomingMessage): Fault | undefined {
  const hosts = countHeader(rawHeaders, 'host')
  if (hosts > 1) return new Fault('invalid', 'Duplicate Host header')
  if (hosts === 0 && httpVersion !== '1.0') return new Fault('invalid', 'Host header missing')
  return undefined
}

/** Health probes use any host name; these two paths answer the same to every caller. */
const PROBES = new Set(['/health', '/ready'])

/** Refuses requests of other web pages before routing and before any of the body is read. */
function pageFaults({ settings }: ServerContext): (ctx: RequestContext) => Fault | undefined {
  const { host, allowed_hosts: allowedHosts, public_url: publicUrl } = settings.server
  const allowedHostsSetting = '[svc.server].allowed_hosts'
  const guard = createWebRequestGuard({ host, allowedHosts, publicUrl, allowedHostsSetting })
  return (ctx) => {
    const refusal = PROBES.has(ctx.path) ? undefined : guard(ctx.headers)
    if (refusal === undefined) return undefined
    if (hasBody(ctx)) discardBody(ctx)
    return new Fault('forbidden', refusal)
  }
}

/** Starts the HTTP server. Each request is checked for its Host and origin, then routed (router.ts). */
export async function startServer<Deps>(
  routes: readonly Route<NoInfer<Deps>>[],
  context: ServerContext<Deps>,
): Promise<HttpServer> {
  const dispatch = createRouter(routes, context)
  const pageFault = pageFaults(context)
  const server = createServer({
    keepAlive: true,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node would answer without a body.
    requireHostHeader: false,
  })
  const unusedSockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unusedSockets.add(socket)
    socket.once('close', () => unusedSockets.delete(socket))
  })
  server.on('request', (req, res) => {
    unusedSockets.delete(req.socket)
    if (!server.listening) res.setHeader('connection', 'close')
    const ctx = new RequestContext(req, res)
    try {
      const fault = hostFault(req)
      if (fault) {
        res.setHeader('connection', 'close')
        throw fault
      }
      const refused = pageFault(ctx)
      if (refused) throw refused
      dispatch(ctx)
    } catch (error) {
      sendFault(ctx, error)
      logRequest(context, ctx)
    }
  })
  server.on('checkExpectation', (req, res) => {
    const ctx = new RequestContext(req, res)
    res.setHeader('connection', 'close')
    sendJson(ctx, 417, '{"detail":"Expectation Failed"}')
    logRequest(context, ctx)
  })
  server.on('clientError', refuseMalformed)

  const { host, port } = context.settings.server
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  // Without a handler, a connection that cannot be accepted ends the process.
  server.on('error', (err) => context.log.error({ err }, 'failed to accept a connection'))
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => stop(server, unusedSockets, context),
  }
}

/** Accepts no new requests, ends streams, and waits for responses in progress up to the limits above. */
async function stop(
  server: Server,
  silent: Set<Socket>,
  { openRequests }: ServerContext,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Node does not count a connection as idle before its first request.
  for (const socket of silent) socket.destroy()
  const enough = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS)
  for (const ctx of openRequests) if (ctx.res.headersSent) ctx.abort(STOPPING)
  const impatience = setTimeout(() => {
    for (const ctx of openRequests) ctx.abort(STOPPING)
  }, WAITING_TIMEOUT_MS)
  // A keep-alive connection would delay the stop.
  const closing = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_INTERVAL_MS)
  await closed
  clearInterval(closing)
  clearTimeout(impatience)
  clearTimeout(enough)
}

const STATUS_OF_ERROR: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** Answers requests that are not HTTP in the format of this API, and closes the connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const status = STATUS_OF_ERROR[error.code ?? ''] ?? 400
  const body = JSON.stringify({ detail: STATUS_CODES[status] })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}
