import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { loadSettings } from '@windlass/runtime/config/load-settings'
import type { Runtime } from '@windlass/runtime/process/main'
import { type Backend, createMcpServer } from './mcp-server.ts'

/** The file descriptor for logs: standard error if the protocol uses standard output. */
export function logFd(): 1 | 2 {
  try {
    return loadSettings().mcp.transport === 'stdio' ? 2 : 1
  } catch {
    // The start reports the error in the settings.
    return 1
  }
}

/** Serves MCP over standard input and output, with the token of the environment, until the input ends. */
export async function serveStdio(
  backend: Backend,
  token: string | undefined,
  { teardown }: Runtime,
): Promise<void> {
  const server = createMcpServer(backend, () => (token ? `Bearer ${token}` : undefined))
  teardown.add('mcp', () => server.close())
  await server.connect(new StdioServerTransport())
  // An ended input no longer keeps the process alive, but the teardown still has to run.
  const alive = setInterval(() => {}, 60_000)
  teardown.add('input', () => clearInterval(alive))
  const stop = () => process.kill(process.pid, 'SIGTERM')
  process.stdin.once('end', stop)
  process.stdout.once('error', stop)
}
