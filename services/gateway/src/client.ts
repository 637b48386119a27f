import type { z } from 'zod'
import type { Placeholders, Route } from './route.ts'
import type { Routes } from './routes/index.ts'

type Key<R> = R extends Route ? `${Uppercase<R['method']>} ${R['path']}` : never
type Find<K, R = Routes> = R extends Route ? (Key<R> extends K ? R : never) : never
type Optional<Name extends string, T> =
  Record<never, never> extends T ? { [N in Name]?: T } : { [N in Name]: T }
type Sent<R> = R extends { body: { readonly sent?: infer T } } ? T : never

type Options<R extends Route> = Optional<'params', Record<Placeholders<R['path']>, string>> &
  Optional<'query', z.input<z.ZodObject<R['query']>>> &
  (undefined extends Sent<R> ? { body?: Sent<R> } : { body: Sent<R> }) & { signal?: AbortSignal }

export type Client = <K extends Key<Routes>>(
  key: K,
  options: Options<Find<K>>,
) => Promise<z.output<Find<K>['returns']>>

/** What the server refused: its status and its `detail`. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly detail: unknown

  constructor(status: number, detail: unknown) {
    super(typeof detail === 'string' ? detail : `HTTP ${status}`)
    this.status = status
    this.detail = detail
  }
}

interface Call {
  params?: Record<string, string>
  query?: Record<string, string | undefined>
  body?: unknown
  signal?: AbortSignal
}

/** A typed client of the HTTP API. Of the routes it takes only their types, so it is small enough for a browser. */
export function createClient(baseUrl: string, token?: () => string | undefined): Client {
  const call = async (key: string, { params = {}, query = {}, body, signal }: Call) => {
    const [method = '', template = ''] = key.split(' ')
    const path = template.replace(/{(\w+)}/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    )
    const given = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1])
    const search = given.length > 0 ? `?${new URLSearchParams(given)}` : ''
    const bearer = token?.()
    const response = await fetch(`${baseUrl}${path}${search}`, {
      method,
      signal: signal ?? null,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(bearer && { authorization: `Bearer ${bearer}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { detail?: unknown }
    if (!response.ok) throw new ApiError(response.status, answer.detail)
    return answer
  }
  return call as unknown as Client
}
