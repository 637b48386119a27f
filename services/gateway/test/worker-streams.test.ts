import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { DispatcherStreams } from '../src/clients/dispatcher-streams.ts'
import { RequestContext } from '../src/http/request-context.ts'
import { startGateway } from './gateway-fixture.ts'

const SESSION = '5'.repeat(32)
const OWN = { authorization: 'Bearer session-of-w1' }

test('the stream of an ended session: 401 with a delayed ping, so that the worker registers', async () => {
  const { call } = await startGateway()
  const headers = { authorization: 'Bearer nonsense', accept: 'text/event-stream' }
  const begun = performance.now()
  const response = await call('GET', '/workers/w1/connect', { headers })
  expect(response.status).toBe(401)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('www-authenticate')).toBe('Bearer')
  expect(await response.text()).toBe('event: ping\ndata: {}\n\n')
  expect(performance.now() - begun).toBeGreaterThan(2_000)
})

/** Starts a stand-in for a dispatcher's stream endpoint; returns its URL. */
async function dispatcherStream(
  handle: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<string> {
  const server = createServer((req, res) => {
    if (req.url === '/beats') res.writeHead(404).end()
    else handle(req, res)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('one of two dispatchers is down: the stream comes from the other and closes with it', async () => {
  const seen: IncomingMessage[] = []
  let endStream = () => {}
  const alive = await dispatcherStream((req, res) => {
    seen.push(req)
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-secret': 'inside' })
    res.write('event: ping\ndata: {}\n\n')
    endStream = () => res.end('event: ping\ndata: {}\n\n')
  })
  const dead = 'http://127.0.0.1:9'
  const { call } = await startGateway({}, { SVC_SERVICES__DISPATCHER_STREAMS: `${dead},${alive}` })
  for (let i = 0; i < 2; i++) {
    const response = await call('GET', '/workers/w1/connect', { headers: OWN })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('x-secret')).toBeNull()
    endStream()
    expect(await response.text()).toBe('event: ping\ndata: {}\n\n'.repeat(2))
  }
  expect(seen[0]?.url).toBe('/workers/w1/connect')
  expect(seen[0]?.headers['x-windlass-session']).toBe(SESSION)
})

test('S6: a worker disconnects: its stream at the dispatcher closes', async () => {
  let closed = false
  const url = await dispatcherStream((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    res.once('close', () => {
      closed = true
    })
  })
  const gateway = await startGateway({}, { SVC_SERVICES__DISPATCHER_STREAMS: url })
  const leave = new AbortController()
  await fetch(`${gateway.url}/workers/w1/connect`, { signal: leave.signal })
  leave.abort()
  await expect.poll(() => closed).toBe(true)
})

test('no dispatcher: 503; a dispatcher that breaks off: the stream is cut off', async () => {
  const dead = 'http://127.0.0.1:9'
  const without = await startGateway({}, { SVC_SERVICES__DISPATCHER_STREAMS: dead })
  expect((await without.call('GET', '/workers/w1/connect')).status).toBe(503)
  const url = await dispatcherStream((req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    setTimeout(() => req.socket.destroy(), 50)
  })
  const broken = await startGateway({}, { SVC_SERVICES__DISPATCHER_STREAMS: url })
  // With `connection: close`, fetch takes the end of the connection for that of the response.
  const headers = { connection: 'keep-alive' }
  const response = await broken.call('GET', '/workers/w1/connect', { headers })
  await expect(response.text()).rejects.toThrow()
})

test('S6: a worker that does not read: closed, even after the dispatcher has ended its stream', async () => {
  const dispatcher = await dispatcherStream((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    // More than the worker's socket buffers, less than all sockets on the path together.
    res.end('x'.repeat(5_000_000))
  })
  const streams = new DispatcherStreams([dispatcher], testIdentity('gateway'), { stalledMs: 200 })
  const owner = { worker_name: 'w', session_id: SESSION }
  let proxied: Promise<void> | undefined
  const gateway = await dispatcherStream((req, res) => {
    proxied = streams.proxy(new RequestContext(req, res), owner)
  })
  const worker = request(gateway, { agent: false }).end()
  onTestFinished(() => void worker.destroy())
  const [response] = (await once(worker, 'response')) as [IncomingMessage]
  response.pause()
  await proxied
  const closed = new Promise((resolve) => response.once('close', resolve))
  response.on('error', () => {}).resume()
  await closed
  expect(response.complete).toBe(false)
})
