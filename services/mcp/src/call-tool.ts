import { ArgumentError, ConnectionError, StatusError } from '@windlass/api-client/errors'
import type { ApiCaller, ApiClient } from '@windlass/api-client/http-client'
import { toJsonObject } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { toolCalls, toolDuration } from './metrics.ts'
import type { SendRequest, Tool } from './tool.ts'

export const MAX_ERROR_CHARS = 10_000
/** A result is sent as text and as structured content. */
const COPIES = 2

interface ToolCaller extends ApiCaller {
  onError(error: unknown): void
  countUnread(bytes: number): void
  /** Called once the API has served the caller. */
  onAuthorized(): void
}

/** Runs a tool for a caller and returns the JSON text of its result; a failure is a result too, and reported to `onError`. */
export async function callTool(
  { api, serverUrl }: { api: ApiClient; serverUrl: string },
  tool: Tool,
  args: Record<string, unknown>,
  { onError, countUnread, onAuthorized, ...caller }: ToolCaller,
): Promise<string> {
  const begunMs = performance.now()
  let outcome = 'ok'
  try {
    const send: SendRequest = (request) => api.call(request, caller)
    const answer = tool.collect ? tool.collect(send, args) : send(tool.request(args))
    const text = tool.result(await answer, args)
    if (!tool.isPublic) onAuthorized()
    countUnread(COPIES * text.length)
    return text
  } catch (error) {
    outcome = 'failed'
    onError(error)
    const text = toErrorText(tool, args, error, serverUrl).slice(0, MAX_ERROR_CHARS)
    return toJsonObject({ success: 'false', error: quote(text) })
  } finally {
    toolCalls.add(1, { tool: tool.name, outcome })
    toolDuration.record((performance.now() - begunMs) / 1_000, { tool: tool.name })
  }
}

function toErrorText(
  tool: Tool,
  args: Record<string, unknown>,
  error: unknown,
  serverUrl: string,
): string {
  if (error instanceof ArgumentError) return error.message
  if (error instanceof StatusError) {
    const own =
      error.status === 400 || error.status === 404 ? tool.errors?.[error.status] : undefined
    return own?.(args, error.body) ?? error.message
  }
  if (tool.reportsConnectionError && error instanceof ConnectionError)
    return `Could not connect to Windlass server at ${serverUrl}`
  const prefix = tool.reportsConnectionError ? 'Unexpected error' : `Error ${tool.doing}`
  return `${prefix}: ${(error as Error).message}`
}
