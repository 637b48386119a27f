import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { beforeAll, beforeEach } from 'vitest'
import type { ConsoleFixture } from './console-fixture.ts'

/** Effect on one request; undefined: none. */
export type Fault =
  /** The connection breaks before the server sees the request. */
  | 'unsent'
  /** The server answers, and the connection breaks before the browser sees it. */
  | 'unanswered'
  /** The answer breaks off after its first part. */
  | 'cut'
  /** Each part of the answer arrives twice. */
  | 'doubled'
  /** Nothing happens until the connection is broken. */
  | 'held'
  /** The answer does not say that it must not be stored. */
  | 'storable'
  /** A status, without asking the server. */
  | number

interface ProxyRequest {
  method: string
  path: string
}

/** A proxy between the browser and a gateway; `fault` decides about each request. */
export interface FaultProxy {
  url: string
  /** Requests so far, as `METHOD /path?query`. */
  seen: string[]
  fault: (request: ProxyRequest) => Fault | undefined
  /** Another gateway, for all later requests. */
  target: string
  /** Breaks all connections. */
  breakAll(): void
  /** Writes frames to the open event streams of a path, between those of the server. */
  inject(path: string, frames: string): void
}

/** Starts a proxy before the tests of a file and passes it to `onStart`; each test begins without faults. */
export function provideFaultProxy(
  fixture: Pick<ConsoleFixture, 'obstacle' | 'url' | 'defer'>,
  onStart: (proxy: FaultProxy) => void,
): void {
  if (fixture.obstacle) return
  let proxy: FaultProxy | undefined
  beforeAll(async () => {
    proxy = await startFaultProxy(fixture.url, fixture.defer)
    onStart(proxy)
  })
  beforeEach(() => {
    if (proxy) proxy.fault = () => undefined
  })
}

/** Starts a proxy without faults. */
export async function startFaultProxy(
  target: string,
  defer: (undo: () => unknown) => void,
): Promise<FaultProxy> {
  const sockets = new Set<Socket>()
  const streams = new Set<EventStream>()
  const server = createServer((from, to) => {
    const { method = '', url = '' } = from
    proxy.seen.push(`${method} ${url}`)
    const fault = proxy.fault({ method, path: url })
    if (fault === 'held') return
    if (fault === 'unsent') from.socket.destroy()
    else if (typeof fault === 'number') to.writeHead(fault).end('{"detail":"injected"}')
    else forward(proxy.target, { from, to, streams }, fault)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  defer(() => {
    server.close()
    breakAll()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const inject = (path: string, frames: string) => {
    for (const stream of streams) if (stream.path.startsWith(path)) stream.write(frames)
  }
  const proxy: FaultProxy = { url, seen: [], fault: () => undefined, target, breakAll, inject }
  return proxy
}

interface Exchange {
  from: IncomingMessage
  to: ServerResponse
  /** Answers that are event streams, while they are open. */
  streams: Set<EventStream>
}

/** An event stream into which frames can be written between those of the server. */
class EventStream {
  readonly path: string
  readonly #to: ServerResponse
  #isBetweenFrames = true
  #waiting = ''

  constructor(path: string, to: ServerResponse) {
    this.path = path
    this.#to = to
  }

  /** Called with each part that was passed on. */
  passed(part: Buffer): void {
    this.#isBetweenFrames = part.subarray(-2).equals(FRAME_END)
    if (this.#isBetweenFrames) this.#flush()
  }

  write(frames: string): void {
    this.#waiting += frames
    if (this.#isBetweenFrames) this.#flush()
  }

  #flush(): void {
    if (this.#waiting !== '') this.#to.write(this.#waiting)
    this.#waiting = ''
  }
}

const FRAME_END = Buffer.from('\n\n')

/** Undefined for an answer that is no event stream. */
function openStream(from: IncomingMessage, answer: IncomingMessage, to: ServerResponse) {
  const isStream = answer.headers['content-type']?.startsWith('text/event-stream')
  return isStream ? new EventStream(from.url ?? '', to) : undefined
}

function forward(target: string, { from, to, streams }: Exchange, fault: Fault | undefined): void {
  const { method, headers } = from
  const upstream = request(new URL(from.url ?? '', target), { method, headers }, (answer) => {
    if (fault === 'unanswered') {
      answer.resume().on('end', () => from.socket.destroy())
      return
    }
    const { 'content-length': _, ...others } = answer.headers
    if (fault === 'storable') delete others['cache-control']
    to.writeHead(answer.statusCode ?? 502, fault === undefined ? answer.headers : others)
    to.flushHeaders()
    const stream = openStream(from, answer, to)
    if (stream) streams.add(stream)
    to.on('close', () => stream && streams.delete(stream))
    answer.on('data', (part: Buffer) => {
      to.write(part)
      stream?.passed(part)
      if (fault === 'doubled') to.write(part)
      if (fault === 'cut') from.socket.destroy()
    })
    answer.on('end', () => to.end())
    answer.on('error', () => from.socket.destroy())
  })
  upstream.on('error', () => from.socket.destroy())
  from.pipe(upstream)
  to.on('close', () => upstream.destroy())
}
