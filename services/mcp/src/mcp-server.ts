import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { ApiClient } from '@windlass/api-client/http-client'
import { z } from 'zod'
import { callTool } from './call-tool.ts'
import type { Tool } from './tool.ts'
import { tools } from './tools.ts'
import { VERSION } from './version.ts'

export interface Backend {
  name: string
  api: ApiClient
  serverUrl: string
}

const ANY_OBJECT = z.looseObject({})

/** The schemas are made once; a server is made for each request. */
const declared = tools.map((tool) => ({
  tool,
  config: {
    description: tool.description,
    inputSchema: z.strictObject(tool.args),
    outputSchema: ANY_OBJECT,
    annotations: toAnnotations(tool),
  },
}))

function toAnnotations({ effect }: Tool) {
  return { readOnlyHint: effect === 'reads', destructiveHint: effect === 'deletes' }
}

type AuthorizationOf = (headers: Record<string, unknown> | undefined) => string | undefined

/** An MCP server of all tools, which act with the rights of whoever `authorizationOf` says. */
export function createMcpServer(backend: Backend, authorizationOf: AuthorizationOf): McpServer {
  const server = new McpServer({ name: backend.name, version: VERSION })
  for (const { tool, config } of declared) {
    server.registerTool(tool.name, config, async (args, { signal, requestInfo }) => {
      const authorization = authorizationOf(requestInfo?.headers)
      const text = await callTool(backend, tool, args, { authorization, signal })
      return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) }
    })
  }
  return server
}
