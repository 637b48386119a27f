import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ID, RUN } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

const requests: [what: string, status: number, method: string, path: string, headers?: object][] = [
  ['an answer', 200, 'GET', '/executions'],
  ['a public answer', 200, 'GET', '/openapi.json'],
  ['a page', 200, 'GET', '/docs'],
  ['an event stream', 200, 'POST', RUN.replace('async', 'stream')],
  [
    'the stream of an ended session',
    401,
    'GET',
    '/workers/w1/connect',
    { authorization: 'Bearer x' },
  ],
  ['an unsupported scheme', 401, 'GET', '/workers', { authorization: 'Basic eDp5' }],
  ['a request of another web page', 403, 'GET', '/executions', { origin: 'https://evil.example' }],
  ['an unknown path', 404, 'GET', '/nope'],
  ['an unknown execution', 404, 'GET', `/executions/${ID}`],
  ['an undeclared method', 405, 'PATCH', '/schedules'],
  ['the declared methods', 204, 'OPTIONS', RUN],
  ['a malformed query', 422, 'GET', '/executions?limit=0'],
]

test.each(requests)('%s (%i): not sniffed and not stored', async (_, status, ...given) => {
  const [method, path, headers] = given
  const { call } = await startGateway()
  const response = await call(method, path, { headers: { ...headers } })
  expect(response.status).toBe(status)
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('cache-control')).toContain('no-store')
  await response.body?.cancel()
})

test('the stream of a worker: not sniffed; its own cache-control stays', async () => {
  const dispatcher = createServer((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    res.flushHeaders()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    dispatcher.closeAllConnections()
    dispatcher.close()
  })
  await new Promise((resolve) => dispatcher.once('listening', resolve))
  const url = `http://127.0.0.1:${(dispatcher.address() as AddressInfo).port}`
  const { call } = await startGateway({}, { SVC_SERVICES__DISPATCHER_STREAMS: url })
  const response = await call('GET', '/workers/w1/connect')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.headers.get('cache-control')).toBe('no-cache')
  await response.body?.cancel()
})

test.each([
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['an unsupported expectation', 'GET / HTTP/1.1\r\nHost: localhost\r\nExpect: x\r\n\r\n', 417],
])('%s: refused with the same headers', async (_, bytes, status) => {
  const { url } = await startGateway()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.write(bytes)
  await expect.poll(() => text).toContain('\r\n\r\n')
  expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(text).toMatch(/x-content-type-options: nosniff/i)
  expect(text).toMatch(/cache-control: no-store/i)
})
