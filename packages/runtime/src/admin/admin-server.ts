/**
 * The listener for probes and metrics, which every service process has. It is never the public one:
 * it asks for no credential, so it listens on loopback unless configured, and it works while the public
 * listener drains. It opens before the service starts and closes after everything else, so that `/live`
 * and `/ready` answer for the whole life of the process.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Settings } from '../config/settings.ts'
import { startHttpServer } from '../http/http-server.ts'
import type { Logger } from '../process/log.ts'
import { createWebRequestGuard } from '../web-requests.ts'
import type { Readiness } from './readiness.ts'

const LIMITS = {
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
  minBodyBytesPerSecond: 1_024,
  maxPendingConnections: 0,
  trustedProxies: 0,
  answerTimeoutMs: 10_000,
  minAnswerBytesPerSecond: 16_384,
  maxUnreadBytes: 33_554_432,
}
const DRAIN_MS = 1_000

export interface AdminDeps {
  readiness: Readiness
  log: Logger
  /** Writes the metrics of the process in the text format of Prometheus; absent: they are off. */
  writeMetrics?: ((req: IncomingMessage, res: ServerResponse) => void) | undefined
}

export interface AdminServer {
  port: number
  stop(): Promise<void>
}

type Endpoint = (req: IncomingMessage, res: ServerResponse) => unknown

/** Serves `/live`, `/ready` and `/metrics` on the address of `[svc.admin]`. */
export async function startAdminServer(
  { host, port, allowed_hosts: allowedHosts }: Settings['admin'],
  { readiness, log, writeMetrics }: AdminDeps,
): Promise<AdminServer> {
  const refusal = createWebRequestGuard({
    host,
    allowedHosts,
    allowedHostsSetting: '[svc.admin].allowed_hosts',
  })
  const endpoints = new Map<string, Endpoint>([
    ['/live', (_, res) => sendJson(res, 200, { status: 'live' })],
    ['/ready', async (_, res) => sendReadiness(res, readiness)],
  ])
  if (writeMetrics) endpoints.set('/metrics', writeMetrics)
  const server = await startHttpServer({
    host,
    port,
    limits: LIMITS,
    log,
    onRequest(req, res, onAuthorized) {
      onAuthorized()
      req.resume()
      const refused = refusal(req.headers)
      if (refused !== undefined) return sendJson(res, 403, { detail: refused })
      const endpoint = endpoints.get(pathOf(req))
      if (!endpoint) return sendJson(res, 404, { detail: 'Not Found' })
      if (req.method !== 'GET' && req.method !== 'HEAD') {
        res.setHeader('Allow', 'GET, HEAD')
        return sendJson(res, 405, { detail: 'Method Not Allowed' })
      }
      void endpoint(req, res)
    },
  })
  return { port: server.port, stop: () => server.stop({ drainMs: DRAIN_MS }) }
}

async function sendReadiness(res: ServerResponse, readiness: Readiness): Promise<void> {
  const report = await readiness.report()
  sendJson(res, report.status === 'ready' ? 200 : 503, report)
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? ''

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json' })
  res.end(`${JSON.stringify(body)}\n`)
}
