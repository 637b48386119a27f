import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { unavailable } from '@windlass/runtime/faults'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import type { RequestContext } from '../http/request-context.ts'

/** A dispatcher that does not begin to answer in this time is passed over. */
const RESPONSE_TIMEOUT_MS = 5_000
/** How long a worker may take nothing while something waits for it. Node lets it pass once more before it says so. */
const STALL_TIMEOUT_MS = 15_000
/** What of the dispatcher's head goes on to the worker. */
const FORWARDED_HEADERS = [
  'content-type',
  'cache-control',
  'x-accel-buffering',
  'retry-after',
] as const

/** Hands workers' streams through from the dispatchers, byte for byte. */
export class DispatcherStreams {
  readonly #urls: readonly string[]
  #nextIndex = Math.floor(Math.random() * 1_000)

  readonly #serviceIdentity: ServiceIdentity
  readonly #stalledMs: number

  constructor(
    urls: readonly string[],
    serviceIdentity: ServiceIdentity,
    { stalledMs = STALL_TIMEOUT_MS } = {},
  ) {
    this.#urls = urls
    this.#serviceIdentity = serviceIdentity
    this.#stalledMs = stalledMs
  }

  /** Connects a worker to the next dispatcher that answers, and resolves when the stream is over. Either end closes the other. */
  async proxy(ctx: RequestContext, owner: WorkerIdentity): Promise<void> {
    const { length } = this.#urls
    this.#nextIndex++
    for (let i = 0; i < length && !ctx.signal.aborted; i++) {
      const url = this.#urls[(this.#nextIndex + i) % length] ?? ''
      const call = openStream(url, this.#serviceIdentity, ctx, owner)
      const upstream = await waitForResponse(call)
      if (upstream) return copyStream(upstream, ctx, this.#stalledMs)
    }
    throw unavailable('no dispatcher is within reach')
  }
}

function openStream(
  url: string,
  serviceIdentity: ServiceIdentity,
  { id, signal }: RequestContext,
  { worker_name, session_id }: WorkerIdentity,
): ClientRequest {
  // The dispatchers take the word of a service of their cluster for the session.
  const headers = {
    authorization: `Bearer ${serviceIdentity.serviceToken('dispatcher')}`,
    'x-request-id': id,
    ...(session_id && { 'x-windlass-session': session_id }),
  }
  const path = `${url}/workers/${worker_name}/connect`
  const call = connectTo(path, serviceIdentity, { agent: false as const, headers, signal })
  call.setTimeout(RESPONSE_TIMEOUT_MS, () => call.destroy(new Error('no answer')))
  call.setNoDelay(true)
  return call.end()
}

function connectTo(url: string, { tls }: ServiceIdentity, options: RequestOptions): ClientRequest {
  if (!url.startsWith('https:')) return request(url, options)
  if (!tls) throw new Error(`${url} needs the certificates of [svc.rpc]`)
  const { ca, cert, key, serverName: servername } = tls
  return requestSecurely(url, { ...options, ca, cert, key, servername })
}

/** The head of the answer, or undefined where nobody answers. */
function waitForResponse(call: ClientRequest): Promise<IncomingMessage | undefined> {
  return new Promise((resolve) => {
    call.once('response', (answer) => {
      call.setTimeout(0)
      resolve(answer)
    })
    call.on('error', () => resolve(undefined))
    call.once('close', () => resolve(undefined))
  })
}

function copyStream(
  upstream: IncomingMessage,
  { res, id, signal }: RequestContext,
  stalledMs: number,
): Promise<void> {
  const head = FORWARDED_HEADERS.flatMap((name) => {
    const value = upstream.headers[name]
    return value === undefined ? [] : [name, value]
  })
  res.writeHead(upstream.statusCode ?? 502, [...head, 'x-request-id', id])
  res.flushHeaders()
  return new Promise((resolve) => {
    // A stream that breaks off must not look like one that ended: a worker waits before it tries again.
    upstream.once('error', () => (signal.aborted ? res.end() : res.destroy()))
    res.once('close', resolve)
    // What the dispatcher has handed over it knows nothing of any more, nor that it stays here.
    res.setTimeout(stalledMs, () => {
      if (res.writableLength > 0) res.destroy()
    })
    upstream.pipe(res)
  })
}
