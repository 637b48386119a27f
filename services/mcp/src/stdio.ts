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
  { log, teardown }: Runtime,
): Promise<void> {
  const server = createMcpServer(backend, {
    authorizationOf: () => (token ? `Bearer ${token}` : undefined),
    // The only client is the process that started this one.
    countUnread: () => {},
    onAuthorized: () => {},
  })
  const stop = once(() => process.kill(process.pid, 'SIGTERM'))
  server.onerror = (error) => log.warn({ err: error }, 'failed to read a message')
  // The transport closes itself at a message that exceeds its buffer.
  server.onclose = stop
  teardown.add('mcp', async () => {
    server.onclose = undefined
    await server.close()
  })
  await server.connect(new StdioServerTransport())
  // An ended input no longer keeps the process alive, but the teardown still has to run.
  const alive = setInterval(() => {}, 60_000)
  teardown.add('input', () => clearInterval(alive))
  process.stdin.once('end', stop)
  process.stdout.once('error', stop)
}

/** Returns a function whose first call runs `action`; a second SIGTERM would end the process without its teardown. */
function once(action: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) action()
    isDone = true
  }
}
