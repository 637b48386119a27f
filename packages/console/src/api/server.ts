import type { ServerSentEvent } from '@windlass/api-client/event-stream'
import { type ApiRequest, createApiClient } from '@windlass/api-client/http-client'

/** The server of this page; behind a proxy it may be below a path. */
export const serverUrl = (): string => new URL('..', document.baseURI).href.replace(/\/$/, '')

/**
 * Pages of other sites cannot set a header, so the cookie of a session counts with this one only
 * (docs/security.md).
 */
const HEADERS = { 'x-windlass-console': '1' }

const client = createApiClient(serverUrl())
const never = new AbortController().signal

export type Query = Record<string, string | undefined>

/** Sends a request of the public API and returns the JSON text of the answer. */
export const send = (request: ApiRequest, signal: AbortSignal = never): Promise<string> =>
  client.call(request, { authorization: undefined, headers: HEADERS, signal })

/** Reads an answer that holds no payload; those with a payload stay text (exact/execution.ts). */
export async function read<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return JSON.parse(await send({ method: 'GET', path, query }, signal)) as T
}

/** Follows an event stream; `after` is the id of the last event that was seen. */
export const follow = (
  path: string,
  { after, query, signal }: { after?: string; query?: Query; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent> =>
  client.stream(
    { method: 'GET', path, query },
    {
      authorization: undefined,
      headers: after ? { ...HEADERS, 'last-event-id': after } : HEADERS,
      signal,
    },
  )

/** Sends a request whose answer is an event stream, which ends with the work. */
export const stream = (request: ApiRequest): AsyncGenerator<ServerSentEvent> =>
  client.stream(request, { authorization: undefined, headers: HEADERS, signal: never })
