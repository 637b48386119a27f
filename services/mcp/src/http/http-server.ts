import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from '@windlass/runtime/process/log'

/** Longer than load balancers keep an idle connection, so that they never send on a closing one. */
const KEEP_ALIVE_MS = 75_000
const DRAIN_MS = 5_000

/** Starts an HTTP server; `stop` closes it after its running requests, or after DRAIN_MS. */
export async function startHttpServer(
  app: RequestListener,
  host: string,
  port: number,
  log: Logger,
) {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, app)
  server.listen(port, host)
  await once(server, 'listening')
  // Without a handler a connection that cannot be accepted would end the process.
  server.on('error', (err) => log.error({ err }, 'failed to accept a connection'))
  const stop = async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeIdleConnections()
    const forceCloseTimer = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
    await closed
    clearTimeout(forceCloseTimer)
  }
  return { port: (server.address() as AddressInfo).port, stop }
}
