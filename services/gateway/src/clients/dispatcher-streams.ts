import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { unavailable } from '@windlass/runtime/faults'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import type { RequestContext } from '../http/request-context.ts'

/** A dispatcher that does not start to respond in this time is skipped. */
const RESPONSE_TIMEOUT_MS = 5_000
/**
 * Time in which a worker reads nothing while data is buffered. Node lets it pass once more before
 * it fires.
 */
const STALL_TIMEOUT_MS = 15_000
/** Response headers of the dispatcher that are forwarded to the worker. */
const FORWARDED_HEADERS = [
  'content-type',
  'cache-control',
  'x-accel-buffering',
  'retry-after',
] as const
const GENERATION_HEADER = 'x-windlass-connection-generation'

/** Receives the name and the connection generation of a worker that closed its stream. */
type OnWorkerLeft = (name: string, connection_generation: number) => void

/** Proxies worker streams from the dispatchers, byte for byte. */
export class DispatcherStreams {
  readonly #urls: readonly string[]
  #nextIndex = Math.floor(Math.random() * 1_000)

  readonly #serviceIdentity: ServiceIdentity
  readonly #stalledMs: number
  readonly #onWorkerLeft: OnWorkerLeft | undefined

  constructor(
    urls: readonly string[],
    serviceIdentity: ServiceIdentity,
    {
      stalledMs = STALL_TIMEOUT_MS,
      onWorkerLeft,
    }: { stalledMs?: number; onWorkerLeft?: OnWorkerLeft } = {},
  ) {
    this.#urls = urls
    this.#serviceIdentity = serviceIdentity
    this.#stalledMs = stalledMs
    this.#onWorkerLeft = onWorkerLeft
  }

  /**
   * Connects a worker to the next dispatcher that responds; resolves when the stream has ended.
   * Either end closes the other.
   */
  async proxy(ctx: RequestContext, owner: WorkerIdentity): Promise<void> {
    const { length } = this.#urls
    this.#nextIndex++
    for (let i = 0; i < length && !ctx.signal.aborted; i++) {
      const url = this.#urls[(this.#nextIndex + i) % length] ?? ''
      const call = openStream(url, this.#serviceIdentity, ctx, owner)
      const upstream = await waitForResponse(call)
      if (!upstream) continue
      const generation = Number(upstream.headers[GENERATION_HEADER] ?? 0)
      const leftBy = await copyStream(upstream, ctx, this.#stalledMs)
      if (leftBy === 'worker' && generation > 0) this.#onWorkerLeft?.(owner.worker_name, generation)
      return
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
  // The dispatchers trust an authenticated service for the session id.
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

/** Resolves to the response, or to undefined if the dispatcher does not respond. */
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

/** Copies the stream to its end; resolves to `worker` only if the worker's connection ended first. */
function copyStream(
  upstream: IncomingMessage,
  { res, id, signal }: RequestContext,
  stalledMs: number,
): Promise<'worker' | 'server'> {
  const head = FORWARDED_HEADERS.flatMap((name) => {
    const value = upstream.headers[name]
    return value === undefined ? [] : [name, value]
  })
  res.writeHead(upstream.statusCode ?? 502, [...head, 'x-request-id', id])
  res.flushHeaders()
  return new Promise((resolve) => {
    let leftBy: 'worker' | 'server' = 'worker'
    // Runs before `close` of the worker's connection if the dispatcher, the link to it, or this process
    // ended the stream.
    const endedHere = () => {
      if (!res.destroyed) leftBy = 'server'
    }
    upstream.once('end', endedHere)
    upstream.once('error', endedHere)
    // A broken stream must not look like an ended one: a worker waits before it reconnects after an
    // end.
    upstream.once('error', () => (signal.aborted ? res.end() : res.destroy()))
    res.once('close', () => resolve(leftBy))
    // The dispatcher cannot see the bytes that are buffered here, so a stalled worker is detected
    // here.
    res.setTimeout(stalledMs, () => {
      if (res.writableLength === 0) return
      leftBy = 'server'
      res.destroy()
    })
    upstream.pipe(res)
  })
}
