import { ConnectError, connectApi, StatusError } from '@windlass/mcp/api'
import { callerToken, loadSettings } from '@windlass/runtime/config/load-settings'
import { membersOf, stringOf } from '@windlass/runtime/json/json'
import { Failure, type Given, type Option, type World } from './command.ts'

/** The options of every command that speaks to the server. */
export const serverOptions: Record<string, Option> = {
  'server-url': { type: 'string', value: 'URL', about: 'the server to speak to' },
}

export type Call = (request: Parameters<ReturnType<typeof connectApi>>[0]) => Promise<string>

/** Calls of the public API that answer its JSON text, and fail in words for a person. */
export function client({ options }: Given, { env }: World): Call {
  const { workers, server } = loadSettings(env)
  const url =
    options['server-url'] ?? workers.server_url ?? `http://${hostOf(server.host)}:${server.port}`
  const api = connectApi(String(url))
  const token = callerToken(env)
  const authorization = token === undefined ? undefined : `Bearer ${token}`
  return async (request) => {
    try {
      return await api(request, { authorization, signal: new AbortController().signal })
    } catch (error) {
      throw failureOf(error, String(url))
    }
  }
}

/** A server that listens on every address is reached on this machine's own. */
const hostOf = (host: string) => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host)

function failureOf(error: unknown, url: string): Error {
  if (error instanceof StatusError) return new Failure(`${error.status}: ${detailOf(error.body)}`)
  if (error instanceof ConnectError)
    return new Failure(`cannot connect to ${url}: ${error.message}`)
  return new Failure((error as Error).message)
}

/** The text of `{"detail": "…"}`, else the body as it is. */
function detailOf(body: string): string {
  try {
    JSON.parse(body)
  } catch {
    return body
  }
  const detail = membersOf(body)?.get('detail')
  return stringOf(detail) ?? detail ?? body
}
