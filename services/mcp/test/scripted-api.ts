import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface Seen {
  route: string
  headers: IncomingHttpHeaders
  body: string
  /** Whether whoever asked hung up before the answer. */
  hungUp: boolean
}

export interface Answer {
  status?: number
  body: string
}

/** An HTTP server that answers `GET /path?query` by the test's table, records what it is asked, and may keep silent. */
export async function scriptedApi() {
  const seen: Seen[] = []
  const answers = new Map<string, Answer | 'silence' | ((seen: Seen) => Answer)>()
  const server = createServer(async (req, res) => {
    const asked: Seen = {
      route: `${req.method} ${req.url}`,
      headers: req.headers,
      body: await text(req),
      hungUp: false,
    }
    seen.push(asked)
    res.once('close', () => {
      asked.hungUp = !res.writableEnded
    })
    const found = answers.get(asked.route) ?? { status: 404, body: '{"detail":"Not Found"}' }
    if (found === 'silence') return
    const { status = 200, body } = typeof found === 'function' ? found(asked) : found
    res.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, seen, answers }
}
