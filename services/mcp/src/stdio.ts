import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { loadSettings } from '@windlass/runtime/config/load-settings'
import type { MainOptions, Runtime } from '@windlass/runtime/process/main'
import { type Backend, createMcpServer } from './mcp-server.ts'

/**
 * Over standard input and output, logs go to standard error, and the client that started the process
 * watches it.
 */
export function mainOptions(): MainOptions {
  try {
    return loadSettings().mcp.transport === 'stdio' ? { logFd: 2, hasAdminPort: false } : {}
  } catch {
    // The start of the transport reports errors in the settings.
    return {}
  }
}

/** Serves MCP over standard input and output, with the token of the environment, until the input ends. */
export async function serveStdio(
  backend: Backend,
  token: string | undefined,
  { teardown }: Runtime,
): Promise<void> {
  const server = createMcpServer(backend, {
    authorizationOf: () => (token ? `Bearer ${token}` : undefined),
    // The only client is the process that started this one.
    countUnread: () => {},
  })
  teardown.add('mcp', () => server.close())
  await server.connect(new StdioServerTransport())
  // An ended input no longer keeps the process alive, but the teardown still has to run.
  const alive = setInterval(() => {}, 60_000)
  teardown.add('input', () => clearInterval(alive))
  const stop = () => process.kill(process.pid, 'SIGTERM')
  process.stdin.once('end', stop)
  process.stdout.once('error', stop)
}
