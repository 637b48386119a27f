import { createApiClient } from '@windlass/api-client/http-client'
import { requireLoopbackIfAnonymous } from '@windlass/runtime/config/anonymous-network'
import { callerToken } from '@windlass/runtime/config/load-settings'
import type { Settings } from '@windlass/runtime/config/settings'
import { BodyBudget, bodyBudgetLimits } from '@windlass/runtime/http/body-budget'
import { httpLimits, startHttpServer } from '@windlass/runtime/http/http-server'
import { UnreadAnswers, unreadLimits } from '@windlass/runtime/http/unread-answers'
import type { Runtime } from '@windlass/runtime/process/main'
import { readServerTls } from '@windlass/runtime/tls/server-tls'
import { createHttpApp } from './http/app.ts'
import { serveStdio } from './stdio.ts'

const DRAIN_MS = 5_000
/** Covers the restart of a gateway, and ends before clients give up by default (60 s in the SDKs). */
const RETRY_FOR_MS = 20_000

/** Serves MCP over the configured transport: streamable HTTP, or standard input and output. */
export async function start(settings: Settings, runtime: Runtime): Promise<Record<string, number>> {
  const { mcp, server, telemetry } = settings
  const { name, server_url: serverUrl } = mcp
  const api = createApiClient(serverUrl, { retryForMs: RETRY_FOR_MS })
  const backend = { name, serverUrl, api, acceptsContext: telemetry.accept_client_context }
  if (mcp.transport === 'stdio') {
    await serveStdio(backend, callerToken(), runtime)
    return {}
  }
  requireLoopbackIfAnonymous(settings, '[svc.mcp].host', mcp.host)
  const address = {
    host: mcp.host,
    allowedHosts: [...server.allowed_hosts, ...mcp.allowed_hosts],
    publicUrl: server.public_url,
  }
  const { log, readiness } = runtime
  const unreadAnswers = new UnreadAnswers(unreadLimits(server))
  const bodyBudget = new BodyBudget(bodyBudgetLimits(server))
  const options = { trustedProxies: server.trusted_proxies, issuesSessionIds: mcp.session_ids }
  const app = createHttpApp({ backend, bodyBudget, unreadAnswers, log, ...options }, address)
  const http = await startHttpServer({
    host: mcp.host,
    port: mcp.port,
    tls: await readServerTls('[svc.mcp]', { tls_cert: mcp.tls_cert, tls_key: mcp.tls_key }),
    limits: httpLimits(server),
    log,
    readiness,
    onRequest: app,
  })
  runtime.teardown.add('http', () => http.stop({ drainMs: DRAIN_MS }))
  return { http: http.port }
}
