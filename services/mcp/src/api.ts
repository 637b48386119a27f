import { checkJson } from '@windlass/runtime/json/json'

const MAX_ANSWER_BYTES = 64 * 1_048_576
const MAX_DEPTH = 1_000

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  query?: Record<string, string | undefined>
  /** JSON text, or a form. */
  body?: string | FormData
  timeoutMs?: number
}

/** The server answered with another status than 2xx. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly status: number
  readonly body: string

  constructor(status: number, body: string) {
    super(`HTTP error: ${status} - ${body}`)
    this.status = status
    this.body = body
  }
}

/** No connection to the server came about. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError'
}

export interface Caller {
  /** Sent as it came, if it came. */
  authorization: string | undefined
  /** Aborts when the caller is gone. */
  signal: AbortSignal
}

/** Calls the public API as the caller and answers the JSON text of what it says. */
export type Api = (request: ApiRequest, caller: Caller) => Promise<string>

const TIMEOUT_MS = 30_000
const UNREACHABLE = new Set([
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

/** The API at a base URL. Every call ends: by its answer, its timeout, or its caller. */
export function connectApi(serverUrl: string): Api {
  const base = serverUrl.replace(/\/+$/, '')
  return async ({ method, path, query = {}, body, timeoutMs = TIMEOUT_MS }, caller) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    const headers = new Headers({ accept: 'application/json' })
    if (caller.authorization !== undefined) headers.set('authorization', caller.authorization)
    if (typeof body === 'string') headers.set('content-type', 'application/json')
    const signal = AbortSignal.any([caller.signal, timeout])
    try {
      const url = `${base}${path}${searchOf(query)}`
      const response = await fetch(url, { method, headers, body, signal, redirect: 'error' })
      const answer = await textOf(response)
      if (!response.ok) throw new StatusError(response.status, answer)
      checkJson(answer, MAX_DEPTH)
      return answer
    } catch (error) {
      if (timeout.aborted) throw new Error(`no answer within ${timeoutMs / 1_000} seconds`)
      throw reasonOf(error)
    }
  }
}

function searchOf(query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1])
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too large')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** What fetch hides in the cause of a cause. */
function reasonOf(error: unknown): unknown {
  const cause = (error as Error).cause as NodeJS.ErrnoException | undefined
  if (!(error instanceof TypeError) || !cause) return error
  const message = cause.message || cause.code || error.message
  return UNREACHABLE.has(cause.code ?? '') ? new ConnectError(message) : new Error(message)
}
