import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  type CallToolRequest,
  type CallToolResult,
  ErrorCode,
  InitializeRequestSchema,
  type InitializeResult,
  LATEST_PROTOCOL_VERSION,
  McpError,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js'
import type { ApiClient } from '@windlass/api-client/http-client'
import { VERSION } from '@windlass/runtime/version'
import { z } from 'zod'
import { callTool, MAX_ERROR_CHARS } from './call-tool.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { type ProgressContext, startProgress } from './progress.ts'
import type { Tool } from './tool.ts'
import { tools } from './tools.ts'
import { traceparentOfCall, traceTool } from './trace-tool.ts'

export interface Backend {
  name: string
  api: ApiClient
  serverUrl: string
  /** False: the `traceparent` of clients is ignored. */
  acceptsContext: boolean
}

/** The client's request as the transport delivers it. */
interface RequestExtra extends ProgressContext {
  signal: AbortSignal
  requestInfo?: { headers: Record<string, unknown> }
}

/** Credential and limits of the client. */
export interface McpCaller {
  /** The Authorization header, whose rights a call has. */
  authorizationOf(headers: Record<string, unknown> | undefined): string | undefined
  /** Counts bytes of a result until the client has read them; throws `unavailable` for too many. */
  countUnread(bytes: number): void
  /** Called once the API has served the client. */
  onAuthorized(): void
}

const HINTS: Record<Tool['effect'], { destructive: boolean; idempotent: boolean }> = {
  reads: { destructive: false, idempotent: true },
  creates: { destructive: false, idempotent: false },
  runs: { destructive: false, idempotent: false },
  updates: { destructive: false, idempotent: true },
  deletes: { destructive: true, idempotent: true },
  acts: { destructive: true, idempotent: false },
  // Destructive, so that clients ask the user first; a second decision is refused.
  decides: { destructive: true, idempotent: true },
}

/**
 * Requests with parameters of any type, which the handlers check: the SDK reports a request that its own schemas
 * refuse as an internal error.
 */
const anyParams = z.looseObject({}).optional()
const initializeRequest = z.object({ method: z.literal('initialize'), params: anyParams })
const listToolsRequest = z.object({ method: z.literal('tools/list'), params: anyParams })
const callToolRequest = z.object({ method: z.literal('tools/call'), params: anyParams })

const MAX_NAME_CHARS = 100

const toSchema = (schema: z.ZodObject) =>
  z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }) as { type: 'object' }

/** No member is required: a failure has only `success` and `error`, and a result may gain members. */
const toOutputSchema = ({ output }: Tool) =>
  toSchema(z.looseObject({ success: z.boolean(), error: z.string(), ...output }).partial())

/** The schemas are created once; a server is created for each request. */
const declared = tools.map((tool) => ({ tool, schema: z.strictObject(tool.args) }))
const byName = new Map(declared.map((entry) => [entry.tool.name, entry]))
const list = declared.map(({ tool, schema }) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: toSchema(schema),
  outputSchema: toOutputSchema(tool),
  annotations: toAnnotations(tool),
}))

function toAnnotations({ title, effect }: Tool) {
  const { destructive, idempotent } = HINTS[effect]
  return {
    title,
    readOnlyHint: effect === 'reads',
    destructiveHint: destructive,
    idempotentHint: idempotent,
    // A workflow can reach anything that its worker can.
    openWorldHint: effect === 'runs' || effect === 'acts' || effect === 'decides',
  }
}

/**
 * Creates an MCP server of all tools; a call has the rights of its caller. It is the SDK's protocol server and not its McpServer, which announces
 * changes of the list, accepts any cursor, and reports an unknown tool as a result.
 */
export function createMcpServer(backend: Backend, caller: McpCaller): Server {
  const info = { name: backend.name, version: VERSION }
  const description = { capabilities: { tools: {} }, instructions: INSTRUCTIONS }
  const server = new Server(info, description)
  server.setRequestHandler(initializeRequest, (request): InitializeResult => {
    const protocolVersion = negotiateVersion(request)
    return { protocolVersion, serverInfo: info, ...description }
  })
  server.setRequestHandler(listToolsRequest, ({ params }) => {
    // The list has one page, so the server never issued a cursor.
    if (params?.cursor !== undefined)
      throw new McpError(ErrorCode.InvalidParams, 'Invalid cursor: the list has one page')
    return { tools: list }
  })
  // The SDK has checked the parameters of this method.
  server.setRequestHandler(callToolRequest, ({ params }, extra) =>
    handleCall(backend, params as CallToolRequest['params'], extra as RequestExtra, caller),
  )
  return server
}

/** Returns the version of the protocol that the client asks for, or the latest one if this server does not support it. */
function negotiateVersion(request: z.infer<typeof initializeRequest>): string {
  const parsed = InitializeRequestSchema.safeParse(request)
  if (!parsed.success) {
    const problems = z.prettifyError(parsed.error).slice(0, MAX_ERROR_CHARS)
    throw new McpError(ErrorCode.InvalidParams, `Invalid parameters of initialize: ${problems}`)
  }
  const { protocolVersion } = parsed.data.params
  return SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion)
    ? protocolVersion
    : LATEST_PROTOCOL_VERSION
}

async function handleCall(
  backend: Backend,
  { name, arguments: args = {}, _meta }: CallToolRequest['params'],
  extra: RequestExtra,
  { authorizationOf, ...client }: McpCaller,
): Promise<CallToolResult> {
  const entry = byName.get(name)
  if (!entry)
    throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, MAX_NAME_CHARS)}`)
  const parsed = entry.schema.safeParse(args)
  if (!parsed.success) {
    const problems = z.prettifyError(parsed.error).slice(0, MAX_ERROR_CHARS)
    const text = `Invalid arguments of ${name}: ${problems}`
    return { content: [{ type: 'text', text }], isError: true }
  }
  const stopProgress = entry.tool.waits ? startProgress(extra) : undefined
  try {
    const received = extra.requestInfo?.headers
    const authorization = authorizationOf(received)
    const traceparent = backend.acceptsContext ? traceparentOfCall(_meta, received) : undefined
    const text = await traceTool(name, traceparent, (headers, onError) => {
      const caller = { authorization, headers, signal: extra.signal, onError, ...client }
      return callTool(backend, entry.tool, parsed.data, caller)
    })
    return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) }
  } finally {
    stopProgress?.()
  }
}
