import { serverOptions } from '../client.ts'
import type { Command } from '../command.ts'

export const mcp: Command = {
  words: 'mcp',
  args: [],
  about: 'Serve the tools of an agent over standard input and output',
  options: serverOptions,
  async run({ options }, { env }) {
    env.SVC_MCP__TRANSPORT = 'stdio'
    if (options['server-url']) env.SVC_MCP__SERVER_URL = String(options['server-url'])
    await import('@windlass/mcp/main')
    return Number(process.exitCode ?? 0)
  },
}
