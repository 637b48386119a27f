/**
 * Client of the public HTTP API for the command line, the MCP server and browsers: it needs `fetch`
 * and the streams of the platform, nothing of Node. Bodies are JSON texts in both directions and are
 * never parsed into values, so numbers beyond 2^53, the order of members and duplicates survive.
 *
 * Each call ends: by its answer, by its time limit or by the caller's signal. Each failure is one of
 * the classes in errors.ts, except an abort by the caller, which rejects with the caller's reason.
 */
import { checkJson, JsonError } from '@windlass/runtime/json/json'
import { ConnectionError, ResponseError, StatusError } from './errors.ts'
import { type ServerSentEvent, toServerSentEvents } from './event-stream.ts'
import { TimeLimit } from './time-limit.ts'

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** An absolute path below the server's URL, as `path` builds it. */
  path: string
  /** Parameters that are undefined or empty are not sent. */
  query?: Record<string, string | undefined>
  /** JSON text, or a form. */
  body?: string | FormData
  /** Limit of the whole call; for a stream, of each silence. */
  timeoutMs?: number
}

export interface ApiCaller {
  /** The Authorization header, sent unchanged; none if undefined. */
  authorization: string | undefined
  /** Further headers of the request. */
  headers?: Record<string, string>
  /** Aborts when the result is no longer needed. */
  signal: AbortSignal
  /** Called with the headers of each answer, before its body is read. */
  onHeaders?: (headers: Headers) => void
  /** Called when a stream begins: the server has accepted the request, and may send nothing for long. */
  onOpen?: () => void
}

export interface ApiClient {
  /** Sends a request and returns the JSON text of the answer. */
  call(request: ApiRequest, caller: ApiCaller): Promise<string>
  /** Sends a request and yields the server-sent events of the answer; a loop that is left closes the connection. */
  stream(request: ApiRequest, caller: ApiCaller): AsyncGenerator<ServerSentEvent>
}

const CALL_TIMEOUT_MS = 30_000
/** The gateway sends a ping at least every 15 s. */
const SILENCE_MS = 60_000
const MAX_ANSWER_BYTES = 64 * 1_048_576
const MAX_DEPTH = 1_000

const JSON_TYPE = 'application/json'
const STREAM_TYPE = 'text/event-stream'

/** Error codes of Node for a connection that was not established or broke. */
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
])

/** Creates a client of the API at a base URL. */
export function createApiClient(serverUrl: string): ApiClient {
  const base = serverUrl.replace(/\/+$/, '')
  return {
    async call(request, caller) {
      const limit = new TimeLimit(request.timeoutMs ?? CALL_TIMEOUT_MS, caller.signal)
      try {
        const response = await send(base, request, { ...caller, signal: limit.signal }, JSON_TYPE)
        return requireJson(await readText(response))
      } catch (error) {
        throw toTypedError(error)
      } finally {
        limit.stop()
      }
    },

    async *stream(request, caller) {
      const limit = new TimeLimit(request.timeoutMs ?? SILENCE_MS, caller.signal)
      try {
        const response = await send(base, request, { ...caller, signal: limit.signal }, STREAM_TYPE)
        caller.onOpen?.()
        yield* toServerSentEvents(response, () => limit.restart())
      } catch (error) {
        throw toTypedError(error)
      } finally {
        limit.abort()
      }
    },
  }
}

async function send(
  base: string,
  request: ApiRequest,
  { authorization, headers: more, signal, onHeaders }: ApiCaller,
  accept: string,
): Promise<Response> {
  const { method, path, query = {}, body } = request
  const headers = new Headers({ ...more, accept })
  if (authorization !== undefined) headers.set('authorization', authorization)
  if (typeof body === 'string') headers.set('content-type', JSON_TYPE)
  const url = `${base}${path}${toSearch(query)}`
  const response = await fetch(url, { method, headers, body, signal, redirect: 'error' })
  onHeaders?.(response.headers)
  if (!response.ok) {
    const retryAfter = response.headers.get('retry-after')
    throw new StatusError(response.status, await readText(response), retryAfter)
  }
  return response
}

function toSearch(query: Record<string, string | undefined>): string {
  const present = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1])
  return present.length === 0 ? '' : `?${new URLSearchParams(present)}`
}

async function readText({ body }: Response): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > MAX_ANSWER_BYTES) {
      await reader.cancel()
      throw new ResponseError(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

function requireJson(text: string): string {
  try {
    checkJson(text, MAX_DEPTH)
    return text
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new ResponseError(`the answer is not JSON: ${error.message}`)
  }
}

/** fetch rejects with a TypeError; Node hides the reason in its cause, a browser gives none. */
function toTypedError(error: unknown): unknown {
  if (!(error instanceof TypeError)) return error
  const cause = error.cause as { code?: string; message?: string } | undefined
  if (cause === undefined) return new ConnectionError(error.message)
  const message = cause.message || cause.code || error.message
  return CONNECTION_CODES.has(cause.code ?? '')
    ? new ConnectionError(message)
    : new ResponseError(message)
}
