import { quote } from '@windlass/runtime/json/json'
import { type Api, type Caller, ConnectError, StatusError } from './api.ts'
import { objectOf } from './domain/payload.ts'
import { Refusal } from './domain/refusal.ts'
import type { Tool } from './tool.ts'

const MAX_ERROR_CHARS = 10_000

/** Runs a tool for a caller and answers the JSON text of its result; what goes wrong is a result too. */
export async function call(
  { api, serverUrl }: { api: Api; serverUrl: string },
  tool: Tool,
  args: Record<string, unknown>,
  caller: Caller,
): Promise<string> {
  try {
    return tool.result(await api(tool.request(args), caller), args)
  } catch (error) {
    const told = errorOf(tool, args, error, serverUrl).slice(0, MAX_ERROR_CHARS)
    return objectOf({ success: 'false', error: quote(told) })
  }
}

function errorOf(
  tool: Tool,
  args: Record<string, unknown>,
  error: unknown,
  serverUrl: string,
): string {
  if (error instanceof Refusal) return error.message
  if (error instanceof StatusError) {
    const own =
      error.status === 400 || error.status === 404 ? tool.errors?.[error.status] : undefined
    return own?.(args, error.body) ?? error.message
  }
  if (tool.tellsConnection && error instanceof ConnectError)
    return `Could not connect to Windlass server at ${serverUrl}`
  const prefix = tool.tellsConnection ? 'Unexpected error' : `Error ${tool.doing}`
  return `${prefix}: ${(error as Error).message}`
}
