/**
 * Client of the public HTTP API for the command line, the MCP server and browsers: it needs `fetch`
 * and the streams of the platform, nothing of Node. Bodies are JSON texts in both directions and are
 * never parsed into values, so numbers beyond 2^53, the order of members and duplicates survive.
 *
 * Each call ends: by its answer, by its time limit or by the caller's signal. Each failure is one of
 * the classes in errors.ts, except an abort by the caller, which rejects with the caller's reason.
 */
import { checkJson, JsonError } from '@windlass/runtime/json/json'
import { CertificateError, ConnectionError, ResponseError, StatusError } from './errors.ts'
import { type ServerSentEvent, toServerSentEvents } from './event-stream.ts'
import { type Repeatability, sendWithRetries } from './retry.ts'
import { TimeLimit } from './time-limit.ts'

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** An absolute path below the server's URL, as `path` builds it. */
  path: string
  /** Parameters that are undefined or empty are not sent. */
  query?: Record<string, string | undefined>
  /** JSON text, or a form. */
  body?: string | FormData
  /** Limit of each attempt; for a stream, of each silence. */
  timeoutMs?: number
  /** Sent as `Idempotency-Key`: a start that is repeated with it starts nothing twice. */
  idempotencyKey?: string | undefined
  /** Revision that the object must have, sent as `If-Match`; the answer is 412 if it has another one. */
  ifRevision?: string | undefined
  /** True: the object must not exist, sent as `If-None-Match: *`; the answer is 412 if it does. */
  ifAbsent?: boolean
  /** The effect of a second delivery (retry.ts). GET requests and those with a key are repeatable. */
  repeatability?: Repeatability
  /** Replaces `retryForMs` of the client; 0 for a request whose failure is the answer, such as a health check. */
  retryForMs?: number
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

/** Error codes of Node for a connection that was not established. */
const UNCONNECTED_CODES = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])
/** Error codes of Node for a certificate without a trusted authority. */
const UNTRUSTED_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
/** Error codes of Node for any other refused certificate. */
const CERTIFICATE_CODE = /^(?:CERT_|ERR_TLS_CERT)/
/** Error codes of Node for a connection that broke. */
const BROKEN_CODES = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET'])

export interface ApiClientOptions {
  /** Time for which a failed call is repeated where that is safe (retry.ts), after its first failure; 0 by default. */
  retryForMs?: number
}

/** Creates a client of the API at a base URL. */
export function createApiClient(
  serverUrl: string,
  { retryForMs = 0 }: ApiClientOptions = {},
): ApiClient {
  const base = serverUrl.replace(/\/+$/, '')
  let hasAnswered = false
  return {
    call(request, caller) {
      const onHeaders = (headers: Headers) => {
        hasAnswered = true
        caller.onHeaders?.(headers)
      }
      return sendWithRetries(() => callOnce(base, request, { ...caller, onHeaders }), {
        repeatability: repeatabilityOf(request),
        // Without an answer so far, the URL may be wrong.
        canReconnect: () => hasAnswered,
        retryForMs: request.retryForMs ?? retryForMs,
        signal: caller.signal,
      })
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

async function callOnce(base: string, request: ApiRequest, caller: ApiCaller): Promise<string> {
  const limit = new TimeLimit(request.timeoutMs ?? CALL_TIMEOUT_MS, caller.signal)
  try {
    const response = await send(base, request, { ...caller, signal: limit.signal }, JSON_TYPE)
    return requireJson(await readText(response))
  } catch (error) {
    throw toTypedError(error)
  } finally {
    limit.stop()
  }
}

const repeatabilityOf = ({ method, idempotencyKey, repeatability }: ApiRequest): Repeatability =>
  method === 'GET' || idempotencyKey !== undefined ? 'repeatable' : repeatability

async function send(
  base: string,
  request: ApiRequest,
  { authorization, headers: more, signal, onHeaders }: ApiCaller,
  accept: string,
): Promise<Response> {
  const { method, path, query = {}, body, idempotencyKey, ifRevision, ifAbsent } = request
  const headers = new Headers({ ...more, accept })
  if (authorization !== undefined) headers.set('authorization', authorization)
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
  if (ifRevision !== undefined) headers.set('if-match', `"${ifRevision}"`)
  if (ifAbsent) headers.set('if-none-match', '*')
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
  const code = cause.code ?? ''
  const isUntrusted = UNTRUSTED_CODES.has(code)
  if (isUntrusted || CERTIFICATE_CODE.test(code)) return new CertificateError(message, isUntrusted)
  if (UNCONNECTED_CODES.has(code)) return new ConnectionError(message, true)
  return BROKEN_CODES.has(code) ? new ConnectionError(message) : new ResponseError(message)
}
