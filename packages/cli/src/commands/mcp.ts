import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadSettings } from '@windlass/runtime/config/load-settings'
import { Settings } from '@windlass/runtime/config/settings'
import { serverOptions } from '../api-call.ts'
import type { Command } from '../command.ts'
import { execProgram } from '../exec-program.ts'
import { projectFile } from '../project.ts'
import { findServerUrl } from '../server-url.ts'

export const mcp: Command = {
  words: 'mcp',
  args: [],
  about: 'Serve the MCP tools over standard input and output',
  options: serverOptions,
  async run(parsed, context) {
    const { server_url } = loadSettings(context.env).mcp
    const isDefault = server_url === Settings.parse({}).mcp.server_url
    const isGiven = parsed.options['server-url'] !== undefined
    const url = isGiven || isDefault ? await findServerUrl(parsed, context) : server_url
    const settings = { SVC_MCP__TRANSPORT: 'stdio', SVC_MCP__SERVER_URL: url }
    return execProgram(process.execPath, findMcpProgram(), { ...context.env, ...settings })
  },
}

/** The built service, or in a clone that is not built its source, with the loader that runs this command. */
function findMcpProgram(): string[] {
  const [built, source] = ['dist/main.js', 'src/main.ts'].map((file) =>
    fileURLToPath(projectFile(`services/mcp/${file}`)),
  ) as [string, string]
  return existsSync(built) ? [built] : [...process.execArgv, source]
}
