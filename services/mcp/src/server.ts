import { createApiClient } from '@windlass/api-client/http-client'
import { requireLoopbackIfAnonymous } from '@windlass/runtime/config/anonymous-network'
import { callerToken } from '@windlass/runtime/config/load-settings'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Runtime } from '@windlass/runtime/process/main'
import { createHttpApp } from './http/app.ts'
import { startHttpServer } from './http/http-server.ts'
import { serveStdio } from './stdio.ts'

/** Serves MCP over the configured transport: streamable HTTP, or standard input and output. */
export async function start(settings: Settings, runtime: Runtime): Promise<Record<string, number>> {
  const { mcp, server } = settings
  const { name, server_url: serverUrl } = mcp
  const backend = { name, serverUrl, api: createApiClient(serverUrl) }
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
  const { log } = runtime
  const { port, stop } = await startHttpServer(
    createHttpApp(backend, address, log),
    mcp.host,
    mcp.port,
    log,
  )
  runtime.teardown.add('http', stop)
  return { http: port }
}
