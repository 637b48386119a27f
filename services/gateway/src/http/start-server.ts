import type { IncomingMessage } from 'node:http'
import { Fault, unavailable } from '@windlass/runtime/faults'
import { clientAddress } from '@windlass/runtime/http/client-address'
import { type HttpServer, httpLimits, startHttpServer } from '@windlass/runtime/http/http-server'
import { endInTurn } from '@windlass/runtime/process/end-in-turn'
import { readServerTls } from '@windlass/runtime/tls/server-tls'
import { createWebRequestGuard } from '@windlass/runtime/web-requests'
import { httpOpenRequests } from '../metrics.ts'
import type { Route } from '../route/route.ts'
import type { ServerContext } from './handle.ts'
import { discardBody, hasBody } from './read-body.ts'
import { countHeader, RequestContext } from './request-context.ts'
import { logRequest } from './request-log.ts'
import { sendFault, sendJson } from './response.ts'
import { createRouter } from './router.ts'

/** Time that a stop allows for responses in progress, and for requests that wait for an execution. */
const DRAIN_TIMEOUT_MS = 10_000
const WAITING_TIMEOUT_MS = 3_000
/** Time over which a stop spreads the ends of streams, whose clients then reconnect to another gateway; less than DRAIN_TIMEOUT_MS. */
const MAX_SPREAD_MS = 8_000
const STOPPING = unavailable('the server is stopping')

/**
 * If there are two Host headers, a proxy may use one and Node the other, so such requests are refused (RFC
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

/**
 * True for a link to the console on a page of another site, such as a chat. The answer of these paths is
 * the same for every caller, and the cookie of a session is not sent with such a request.
 */
const opensConsole = ({ req, headers, path }: RequestContext): boolean =>
  req.method === 'GET' &&
  (path === '/' || path === '/console' || path.startsWith('/console/')) &&
  headers['sec-fetch-mode'] === 'navigate' &&
  headers['sec-fetch-dest'] === 'document'

/** Refuses requests from pages of other sites before routing and before any of the body is read. */
function pageFaults({ settings }: ServerContext): (ctx: RequestContext) => Fault | undefined {
  const { host, allowed_hosts: allowedHosts, public_url: publicUrl } = settings.server
  const allowedHostsSetting = '[svc.server].allowed_hosts'
  const guard = createWebRequestGuard({ host, allowedHosts, publicUrl, allowedHostsSetting })
  return (ctx) => {
    const headers = opensConsole(ctx)
      ? { ...ctx.headers, 'sec-fetch-site': undefined }
      : ctx.headers
    const refusal = PROBES.has(ctx.path) ? undefined : guard(headers)
    if (refusal === undefined) return undefined
    if (hasBody(ctx)) discardBody(ctx)
    return new Fault('forbidden', refusal)
  }
}

/** Starts the HTTP server. Each request is checked for its Host and origin, then routed (router.ts). */
export async function startServer<Deps>(
  routes: readonly Route<NoInfer<Deps>>[],
  context: ServerContext<Deps>,
): Promise<{ port: number; stop(): Promise<void> }> {
  const dispatch = createRouter(routes, context)
  const pageFault = pageFaults(context)
  const { server: settings } = context.settings
  const http = await startHttpServer({
    ...settings,
    tls: await readServerTls('[svc.server]', settings),
    limits: httpLimits(settings),
    log: context.log,
    readiness: context.readiness,
    requireHostHeader: false,
    onRequest(req, res, onAuthorized) {
      const ctx = new RequestContext(req, res, onAuthorized)
      ctx.clientAddress = clientAddress(req, settings.trusted_proxies)
      try {
        const fault = hostFault(req)
        if (fault) res.setHeader('connection', 'close')
        const refused = fault ?? pageFault(ctx)
        if (refused) throw refused
        dispatch(ctx)
      } catch (error) {
        sendFault(ctx, error)
        logRequest(context, ctx)
      }
    },
    onExpectation(req, res) {
      const ctx = new RequestContext(req, res)
      sendJson(ctx, 417, '{"detail":"Expectation Failed"}')
      logRequest(context, ctx)
    },
  })
  const stopObserving = httpOpenRequests.observe((report) => report(context.openRequests.size))
  return {
    port: http.port,
    async stop() {
      await stop(http, context)
      stopObserving()
    },
  }
}

/**
 * Accepts no new requests, ends streams one after another, and waits for responses in progress up to the limits
 * above.
 */
async function stop(http: HttpServer, { openRequests }: ServerContext): Promise<void> {
  let abortTimer: NodeJS.Timeout | undefined
  const end = (ctx: RequestContext) => (ctx.endOnStop ? ctx.endOnStop() : ctx.abort(STOPPING))
  let streams = new Set<RequestContext>()
  await http.stop({
    drainMs: DRAIN_TIMEOUT_MS,
    onDrain() {
      abortTimer = setTimeout(() => {
        for (const ctx of openRequests) if (!streams.has(ctx)) ctx.abort(STOPPING)
      }, WAITING_TIMEOUT_MS)
    },
    onIdleClosed() {
      streams = new Set([...openRequests].filter(({ res }) => res.headersSent))
      void endInTurn([...streams], end, MAX_SPREAD_MS)
    },
  })
  clearTimeout(abortTimer)
}
