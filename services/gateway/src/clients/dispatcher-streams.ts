import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { unavailable } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import { startTimeLimit } from '@windlass/runtime/timeout'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import type { RequestContext } from '../http/request-context.ts'
import { DispatcherWatch } from './dispatcher-watch.ts'
import { type Upstream, WorkerProxy } from './worker-proxy.ts'

/** A dispatcher that does not start to respond within this time is skipped. */
const RESPONSE_TIMEOUT_MS = 5_000
/**
 * Maximum time for which a worker may read nothing while data is buffered. Node lets it pass twice before
 * it fires.
 */
const STALL_TIMEOUT_MS = 15_000
/**
 * Maximum number of streams that move to another dispatcher at the same time; each costs that one a
 * statement.
 */
const MOVES_AT_ONCE = 16
/** Time for a dispatcher to end a stream that it was asked to end. */
const END_TIMEOUT_MS = 1_000
const STOPPING = unavailable('the server is stopping')

/** Receives the name and the connection generation of a worker that closed its stream. */
type OnWorkerLeft = (name: string, connection_generation: number) => void

interface OpenProxy {
  proxy: WorkerProxy
  ctx: RequestContext
  owner: WorkerIdentity
  isMoving: boolean
}

/**
 * Proxies worker streams from the dispatchers, byte for byte. Streams of a dispatcher that hangs
 * (dispatcher-watch.ts) move to another one; otherwise their workers would get no work although they are
 * alive. So do those of a dispatcher that stops: their workers need not reconnect. When this process stops, it lets the
 * dispatchers end the streams, so that no frame is lost on its way.
 */
export class DispatcherStreams {
  readonly #urls: readonly string[]
  /** Sent to the dispatchers, so that they know which worker streams stop when our beats do. */
  readonly #id = newId()
  #nextIndex = Math.floor(Math.random() * 1_000)

  readonly #serviceIdentity: ServiceIdentity
  readonly #stalledMs: number
  readonly #onWorkerLeft: OnWorkerLeft | undefined
  readonly #open = new Set<OpenProxy>()
  readonly #watches = new Map<string, DispatcherWatch>()

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

  stop(): void {
    for (const watch of this.#watches.values()) watch.stop()
    this.#watches.clear()
  }

  /**
   * Connects a worker to the next dispatcher that responds; resolves when the stream has ended.
   * Either end closes the other.
   */
  async proxy(ctx: RequestContext, owner: WorkerIdentity): Promise<void> {
    for (const url of this.#candidates()) {
      if (ctx.signal.aborted) break
      const upstream = await this.#connect(url, ctx, owner)
      if (!upstream) continue
      for (const each of this.#urls) this.#watch(each)
      const proxy = new WorkerProxy(url, upstream, ctx, {
        stalledMs: this.#stalledMs,
        isDelayed: () => this.#watches.get(proxy.url)?.mayBeDelayed === true,
        acknowledge: (stream) => this.#watches.get(proxy.url)?.acknowledge(stream),
        onDispatcherStopping: () => void this.#handOver(open),
        worker_name: owner.worker_name,
      })
      const open: OpenProxy = { proxy, ctx, owner, isMoving: false }
      ctx.endOnStop = () => this.#end(open)
      this.#open.add(open)
      const leftBy = await proxy.copy()
      this.#open.delete(open)
      if (leftBy === 'worker' && proxy.generation > 0)
        this.#onWorkerLeft?.(owner.worker_name, proxy.generation)
      return
    }
    throw unavailable('no dispatcher can be reached; retry')
  }

  /** All dispatchers in turn, with those that hang last. */
  #candidates(): string[] {
    const { length } = this.#urls
    this.#nextIndex++
    const inTurn = this.#urls.map((_, i) => this.#urls[(this.#nextIndex + i) % length] ?? '')
    return [
      ...inTurn.filter((url) => !this.#isHung(url)),
      ...inTurn.filter((url) => this.#isHung(url)),
    ]
  }

  #isHung(url: string): boolean {
    return this.#watches.get(url)?.isHung === true
  }

  #watch(url: string): void {
    if (this.#watches.has(url)) return
    const open = () => {
      const headers = this.#headers()
      const options = { method: 'POST', headers }
      return connectTo(`${url}/beats`, this.#serviceIdentity, options)
    }
    this.#watches.set(url, new DispatcherWatch(open, () => this.#leave(url)))
  }

  /** Moves streams of a dispatcher that hangs; those that cannot move are tried again at the next check. */
  #leave(url: string): void {
    const moving = [...this.#open].filter(({ isMoving }) => isMoving).length
    const left = [...this.#open].filter(({ proxy, isMoving }) => proxy.url === url && !isMoving)
    for (const one of left.slice(0, Math.max(0, MOVES_AT_ONCE - moving))) void this.#move(one)
  }

  async #move(one: OpenProxy): Promise<void> {
    const { url: hung } = one.proxy
    // A hung dispatcher would read this request when it continues, and would supersede the stream.
    const url = this.#candidates().find((each) => this.#watches.get(each)?.isFresh)
    if (url === undefined || url === hung) return
    one.isMoving = true
    await one.proxy.move(() => this.#openAt([url], one))
    one.isMoving = false
    // A stream that could not move is tried again at the next check.
    if (one.proxy.url === url && this.#isHung(hung)) this.#leave(hung)
  }

  /** Moves the stream of a dispatcher that has ended it because it stops; it ends if no other one takes it. */
  async #handOver(one: OpenProxy): Promise<void> {
    const left = one.proxy.url
    const others = this.#candidates().filter((url) => url !== left && !this.#isHung(url))
    if (one.isMoving || others.length === 0) return
    one.isMoving = true
    await one.proxy.move(() => this.#openAt(others, one))
    one.isMoving = false
  }

  /** Opens the stream of a worker at the first of these dispatchers that responds. */
  async #openAt(urls: readonly string[], { ctx, owner }: OpenProxy): Promise<Upstream | undefined> {
    for (const url of urls) {
      const response = await this.#connect(url, ctx, owner)
      if (response?.statusCode === 200) return { url, response }
      response?.destroy()
    }
    return undefined
  }

  /** Ends a stream because this process stops: its dispatcher does, or the stream is cut off. */
  #end({ proxy, ctx }: OpenProxy): void {
    const isAsked = this.#watches.get(proxy.url)?.requestEnd(proxy)
    if (isAsked) setTimeout(() => ctx.abort(STOPPING), END_TIMEOUT_MS).unref()
    else ctx.abort(STOPPING)
  }

  #connect(url: string, ctx: RequestContext, owner: WorkerIdentity) {
    const { worker_name, session_id } = owner
    const headers = {
      ...this.#headers(),
      'x-request-id': ctx.id,
      ...(session_id && { 'x-windlass-session': session_id }),
    }
    const { signal } = ctx
    const path = `${url}/workers/${worker_name}/connect`
    return waitForResponse(connectTo(path, this.#serviceIdentity, { headers, signal }).end())
  }

  /** The dispatchers trust an authenticated service for the session id. */
  #headers() {
    return {
      authorization: `Bearer ${this.#serviceIdentity.serviceToken('dispatcher')}`,
      'x-windlass-gateway': this.#id,
    }
  }
}

/** Sends a request on a connection of its own; within one process without a socket. */
function connectTo(
  url: string,
  { tls, colocation }: ServiceIdentity,
  options: RequestOptions,
): ClientRequest {
  const local = colocation?.connectToStreams?.()
  if (local) return request(url, { ...options, createConnection: () => local })
  if (!url.startsWith('https:')) return request(url, { ...options, agent: false })
  if (!tls) throw new Error(`${url} needs the certificates of [svc.rpc]`)
  const { ca, cert, key, serverName: servername } = tls
  const secured = { ca, cert, key, servername }
  return requestSecurely(url, { ...options, ...secured, agent: false })
}

/** Resolves to the response, or to undefined if the dispatcher does not respond in time. */
function waitForResponse(call: ClientRequest): Promise<IncomingMessage | undefined> {
  return new Promise((resolve) => {
    const release = startTimeLimit(RESPONSE_TIMEOUT_MS, () => call.destroy(new Error('no answer')))
    call.once('response', (answer) => {
      release()
      resolve(answer)
    })
    call.on('error', () => resolve(undefined))
    call.once('close', () => {
      release()
      resolve(undefined)
    })
  })
}
