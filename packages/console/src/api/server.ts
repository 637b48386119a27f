import { ArgumentError, ConnectionError, StatusError } from '@windlass/api-client/errors'
import type { ServerSentEvent } from '@windlass/api-client/event-stream'
import { type ApiRequest, createApiClient } from '@windlass/api-client/http-client'
import { count } from '../format/time.ts'
import type { AnswerAge } from './poll.ts'
import { learnTime } from './server-clock.ts'

/** The server of this page; behind a proxy it may be below a path. */
export const serverUrl = (): string => new URL('..', document.baseURI).href.replace(/\/$/, '')

/**
 * Pages of other sites cannot set a header, so the cookie of a session counts only together with this one
 * (docs/security.md).
 */
const HEADERS = { 'x-windlass-console': '1' }

const client = createApiClient(serverUrl())
const never = new AbortController().signal

export type Query = Record<string, string | undefined>

/** Bytes of the largest body that the server accepts; no limit while that is not known. */
let maxBodyBytes = Number.POSITIVE_INFINITY

export function learnMaxBody(bytes: number): void {
  maxBodyBytes = bytes
}

/** The most bytes of a UTF-16 code unit in UTF-8. */
const MAX_BYTES_OF_UNIT = 3

/**
 * Throws ArgumentError for a body that the server would refuse: a browser may report the refusal of a large one as
 * a broken connection.
 */
function requireAccepted({ body }: ApiRequest): void {
  if (typeof body !== 'string' || body.length * MAX_BYTES_OF_UNIT <= maxBodyBytes) return
  const size = new TextEncoder().encode(body).length
  if (size <= maxBodyBytes) return
  throw new ArgumentError(
    `Too large: the request has ${count(size)} bytes, and the server accepts at most ${count(maxBodyBytes)}. Nothing was sent.`,
  )
}

/** Sends a request of the public API and returns the JSON text of the answer. */
export async function send(request: ApiRequest, signal: AbortSignal = never): Promise<string> {
  requireAccepted(request)
  return client.call(request, {
    authorization: undefined,
    headers: HEADERS,
    signal,
    onHeaders: learnTime,
  })
}

/** A person waits for the answer, and may start again afterwards. */
const RETRY_FOR_MS = 10_000

/**
 * Sends a request that may reach the server twice, because the second one has no further effect: repeats it
 * while the connection breaks or the server is not ready, since the first one may or may not have arrived.
 */
export const sendRepeatable = (request: ApiRequest): Promise<string> =>
  send({ repeatability: 'repeatable', retryForMs: RETRY_FOR_MS, ...request })

const KEY_BYTES = 16

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/**
 * Sends a request that starts an execution. Repeated with the same key, it starts no second one. Without a
 * key, it gets a new one.
 */
export const sendStart = (request: ApiRequest, key = ''): Promise<string> =>
  sendRepeatable({ ...request, idempotencyKey: key || newKey() })

/**
 * Reads an answer without payloads; answers with payloads stay text (exact/execution.ts). With `age` the server may give
 * an earlier answer again.
 */
export async function read<T>(
  path: string,
  query: Query = {},
  signal: AbortSignal = never,
  age?: AnswerAge,
): Promise<T> {
  const maxSeconds = Math.floor((age?.maxMs ?? 0) / 1_000)
  const text = await client.call(
    { method: 'GET', path, query },
    {
      authorization: undefined,
      headers: maxSeconds > 0 ? { ...HEADERS, 'cache-control': `max-age=${maxSeconds}` } : HEADERS,
      signal,
      onHeaders(headers) {
        learnTime(headers)
        if (age) age.ms = Math.max(age.ms, 1_000 * (Number(headers.get('age')) || 0))
      },
    },
  )
  return JSON.parse(text) as T
}

/** Reads bytes of a text that the server stores; the range may end after the end of the text. */
export async function readRange(
  path: string,
  { from, to }: { from: number; to: number },
  signal: AbortSignal,
): Promise<{ bytes: Uint8Array; totalBytes: number }> {
  const headers = { ...HEADERS, range: `bytes=${from}-${to}` }
  const response = await fetch(`${serverUrl()}${path}`, { headers, signal }).catch((error) => {
    throw error instanceof TypeError ? new ConnectionError(error.message) : error
  })
  if (!response.ok) throw new StatusError(response.status, await response.text())
  const bytes = new Uint8Array(await response.arrayBuffer())
  const total = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1]
  return { bytes, totalBytes: total === undefined ? bytes.length : Number(total) }
}

/** Reads a whole text that the server stores. */
export async function readBlob(path: string): Promise<Blob> {
  const response = await fetch(`${serverUrl()}${path}`, { headers: HEADERS })
  if (!response.ok) throw new StatusError(response.status, await response.text())
  return response.blob()
}

interface FollowOptions {
  after?: string | undefined
  query?: Query
  signal: AbortSignal
  /** Called when the server has accepted the request. */
  onOpen?: (() => void) | undefined
}

/** Follows an event stream; `after` is the id of the last event that was seen. */
export const follow = (
  path: string,
  { after, query, signal, onOpen }: FollowOptions,
): AsyncGenerator<ServerSentEvent> =>
  client.stream(
    { method: 'GET', path, query },
    {
      authorization: undefined,
      headers: after ? { ...HEADERS, 'last-event-id': after } : HEADERS,
      signal,
      onOpen,
    },
  )

/** Sends a request whose answer is an event stream, which ends when the work is done. */
export const stream = (request: ApiRequest): AsyncGenerator<ServerSentEvent> =>
  client.stream(request, { authorization: undefined, headers: HEADERS, signal: never })
