import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { loadSettings } from '@windlass/runtime/config/load-settings'
import type { Runtime } from '@windlass/runtime/process/main'
import { type Backend, createMcpServer } from './mcp-server.ts'

/** Where logs go: standard output belongs to the protocol when that is how it is spoken. */
export function logFd(): 1 | 2 {
  try {
    return loadSettings().mcp.transport === 'stdio' ? 2 : 1
  } catch {
    // The start will say what is wrong with the settings.
    return 1
  }
}

/** MCP over standard input and output, with the token of whoever started it, until the input ends. */
export async function serveStdio(
  backend: Backend,
  token: string | undefined,
  { teardown }: Runtime,
): Promise<void> {
  const server = createMcpServer(backend, () => (token ? `Bearer ${token}` : undefined))
  teardown.add('mcp', () => server.close())
  await server.connect(new StdioServerTransport())
  // An ended input holds the process no longer, and it has yet to stop in order.
  const alive = setInterval(() => {}, 60_000)
  teardown.add('input', () => clearInterval(alive))
  const leave = () => process.kill(process.pid, 'SIGTERM')
  process.stdin.once('end', leave)
  process.stdout.once('error', leave)
}
