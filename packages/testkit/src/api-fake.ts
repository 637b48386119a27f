import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface SeenRequest {
  route: string
  headers: IncomingHttpHeaders
  body: string
  /** True if the client closed the connection before the response was complete. */
  isAborted: boolean
}

export interface FakeResponse {
  status?: number
  body: string
}

/** Starts an HTTP server that answers `GET /path?query` from a table of the test, records the requests, and can keep silent. */
export async function fakeApi() {
  const seen: SeenRequest[] = []
  const answers = new Map<
    string,
    FakeResponse | 'silence' | ((seen: SeenRequest) => FakeResponse)
  >()
  let otherwise: FakeResponse = { status: 404, body: '{"detail":"Not Found"}' }
  const server = createServer(async (req, res) => {
    const request: SeenRequest = {
      route: `${req.method} ${req.url}`,
      headers: req.headers,
      body: await text(req),
      isAborted: false,
    }
    seen.push(request)
    res.once('close', () => {
      request.isAborted = !res.writableEnded
    })
    const found = answers.get(request.route) ?? otherwise
    if (found === 'silence') return
    const { status = 200, body } = typeof found === 'function' ? found(request) : found
    res.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  /** Sets the answer to every request that the table does not name. */
  const refuseAll = (response: FakeResponse) => {
    otherwise = response
  }
  return { url: `http://127.0.0.1:${port}`, seen, answers, refuseAll }
}

/** A URL at which no process listens. */
export async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}
