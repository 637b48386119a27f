import { requireLoopbackIfAnonymous } from '@windlass/runtime/config/anonymous-network'
import { callerToken } from '@windlass/runtime/config/load-settings'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Runtime } from '@windlass/runtime/process/main'
import { connectApi } from './api.ts'
import { httpApp } from './http/app.ts'
import { listen } from './http/listen.ts'
import { serveStdio } from './stdio.ts'

/** Serves MCP as the settings say: over streamable HTTP, or over standard input and output. */
export async function start(settings: Settings, runtime: Runtime): Promise<Record<string, number>> {
  const { mcp, server } = settings
  const { name, server_url: serverUrl } = mcp
  const backend = { name, serverUrl, api: connectApi(serverUrl) }
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
  const { port, stop } = await listen(httpApp(backend, address, log), mcp.host, mcp.port, log)
  runtime.teardown.add('http', stop)
  return { http: port }
}
