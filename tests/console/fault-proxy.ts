import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

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
}

/** Starts a proxy without faults. */
export async function startFaultProxy(
  target: string,
  defer: (undo: () => unknown) => void,
): Promise<FaultProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((from, to) => {
    const { method = '', url = '' } = from
    proxy.seen.push(`${method} ${url}`)
    const fault = proxy.fault({ method, path: url })
    if (fault === 'unsent') from.socket.destroy()
    else if (typeof fault === 'number') to.writeHead(fault).end('{"detail":"injected"}')
    else forward(proxy.target, { from, to }, fault)
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
  const proxy: FaultProxy = { url, seen: [], fault: () => undefined, target, breakAll }
  return proxy
}

interface Exchange {
  from: IncomingMessage
  to: ServerResponse
}

function forward(target: string, { from, to }: Exchange, fault: Fault | undefined): void {
  const { method, headers } = from
  const upstream = request(new URL(from.url ?? '', target), { method, headers }, (answer) => {
    if (fault === 'unanswered') {
      answer.resume().on('end', () => from.socket.destroy())
      return
    }
    const { 'content-length': _, ...others } = answer.headers
    to.writeHead(answer.statusCode ?? 502, fault === undefined ? answer.headers : others)
    to.flushHeaders()
    answer.on('data', (part) => {
      to.write(part)
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
