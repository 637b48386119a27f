import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ID, RUN } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

const STATUS = `/workflows/default/hello/status/${ID}`
const CANCEL = `/workflows/default/hello/cancel/${ID}`

const methods: [method: string, path: string, status: number, allow: string | null][] = [
  ['GET', '/nope', 404, null],
  ['POST', '/', 405, 'GET'],
  ['POST', '/nope', 404, null],
  ['DELETE', '/workflows', 405, 'POST, GET'],
  ['GET', RUN, 405, 'POST'],
  ['POST', STATUS, 405, 'GET'],
  ['PATCH', '/schedules', 405, 'POST, GET'],
  ['PUT', '/workers/register', 405, 'POST'],
  ['GET', '/console/session', 405, 'POST, DELETE'],
  ['HEAD', '/health', 405, 'GET'],
  ['HEAD', CANCEL, 405, 'GET'],
  ['HEAD', STATUS, 405, 'GET'],
  ['HEAD', '/nope', 404, null],
  ['OPTIONS', CANCEL, 204, 'GET'],
  ['OPTIONS', RUN, 204, 'POST'],
  ['OPTIONS', '/nope', 404, null],
]

test.each(methods)('%s %s: %i', async (method, path, status, allow) => {
  const { call, executions } = await startGateway()
  const response = await call(method, path)
  expect(response.status).toBe(status)
  expect(response.headers.get('allow')).toBe(allow)
  expect(response.headers.get('x-powered-by')).toBeNull()
  expect(response.headers.get('access-control-allow-origin')).toBeNull()
  if (status !== 204 && method !== 'HEAD')
    expect(await response.json()).toEqual({
      detail: status === 404 ? 'Not Found' : 'Method Not Allowed',
    })
  expect(executions.commands).toEqual([])
})

test('a method override header: ignored', async () => {
  const { call } = await startGateway()
  const headers = { 'x-http-method-override': 'DELETE' }
  const response = await call('POST', '/workflows/default/hello', { headers })
  expect(response.status).toBe(405)
})

test('a request id: echoed if it is safe to log, replaced otherwise', async () => {
  const { call } = await startGateway()
  const idOf = async (request: string, id: string) => {
    const [method = '', path = ''] = request.split(' ')
    return (await call(method, path, { headers: { 'x-request-id': id } })).headers.get(
      'x-request-id',
    )
  }
  const requests = ['GET /nope', `GET ${STATUS}`, 'GET /executions/nope', `OPTIONS ${RUN}`]
  for (const request of [...requests, 'PATCH /schedules', 'GET /workflows/%zz/x']) {
    expect(await idOf(request, 'req-1.a:b'), request).toBe('req-1.a:b')
    for (const unsafe of ['a b', 'x'.repeat(129), '{"a":1}'])
      expect(await idOf(request, unsafe), request).toMatch(/^[0-9a-f-]{36}$/)
  }
})

/** Sends raw bytes; returns what is received until the server closes or is silent for a second. */
async function raw(url: string, ...parts: string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
  })
  for (const part of parts) socket.write(part)
  await new Promise((resolve) => {
    socket.once('close', resolve)
    socket.once('error', resolve)
    socket.setTimeout(1_000, () => socket.destroy())
  })
  return received
}

const broken: Record<string, [bytes: string, status: RegExp]> = {
  'no HTTP': ['hello\r\n\r\n', /^HTTP\/1.1 400 .*\{"detail":"Bad Request"\}$/s],
  'a header block too long': [
    `GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
    /^HTTP\/1.1 431 .*\{"detail":"Request Header Fields Too Large"\}$/s,
  ],
  'two lengths': [
    `POST ${RUN} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12`,
    /^HTTP\/1.1 400 /,
  ],
  'a length and chunks': [
    `POST ${RUN} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n`,
    /^HTTP\/1.1 400 (?!.*HTTP\/1.1)/s,
  ],
  'an unknown transfer coding': [
    `POST ${RUN} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n1`,
    /^HTTP\/1.1 400 /,
  ],
  'a bad chunk': [
    `POST ${RUN} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    /^HTTP\/1.1 400 /,
  ],
  'an unsupported expectation': [
    'POST /workflows HTTP/1.1\r\nHost: localhost\r\nExpect: 200-maybe\r\nContent-Length: 1\r\n\r\n1',
    /^HTTP\/1.1 417 .*x-request-id: .*\{"detail":"Expectation Failed"\}$/is,
  ],
  'no host': [
    'GET /health HTTP/1.1\r\n\r\n',
    /^HTTP\/1.1 400 .*\{"detail":"Host header missing"\}$/s,
  ],
  'two hosts': [
    'GET /health HTTP/1.1\r\nHost: localhost\r\nHOST: localhost\r\n\r\n',
    /^HTTP\/1.1 400 .*\{"detail":"Duplicate Host header"\}$/s,
  ],
  'a target that is a whole URL': [
    'GET http://x/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    /^HTTP\/1.1 (404|200) /,
  ],
}

test.each(Object.entries(broken))(
  '%s: the expected status, and the gateway keeps serving',
  async (_, [bytes, status]) => {
    const { url, call } = await startGateway()
    expect(await raw(url, bytes)).toMatch(status)
    expect((await call('GET', '/nope')).status).toBe(404)
  },
)

test('R5: a body above the limit: 413 before it ends', async () => {
  const { url, executions } = await startGateway({}, { SVC_SERVER__MAX_BODY_BYTES: '1000' })
  const head = `POST ${RUN} HTTP/1.1\r\nHost: localhost\r\n`
  const declared = await raw(url, `${head}Content-Length: 5000\r\n\r\n`, 'x'.repeat(2_000))
  expect(declared).toMatch(/^HTTP\/1.1 413 .*more than 1000 bytes/s)
  const chunk = `400\r\n${'x'.repeat(0x400)}\r\n`
  const chunked = await raw(url, `${head}Transfer-Encoding: chunked\r\n\r\n`, chunk, chunk)
  expect(chunked).toMatch(/^HTTP\/1.1 413 /)
  expect(executions.commands).toEqual([])
})

test('a refused body: its connection serves the next request', async () => {
  const { url } = await startGateway({}, { SVC_SERVER__MAX_BODY_BYTES: '1000' })
  const head = `POST ${RUN} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n`
  const received = await raw(
    url,
    head,
    'x'.repeat(5_000),
    'GET /nope HTTP/1.1\r\nHost: localhost\r\n\r\n',
  )
  expect(received.match(/HTTP\/1.1 (\d+)/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 404'])
})

test('Connection: close with a refused body: closed only after the body is read', async () => {
  const { url } = await startGateway({}, { SVC_SERVER__MAX_BODY_BYTES: '1000' })
  const socket = connect({
    port: Number(new URL(url).port),
    host: '127.0.0.1',
    allowHalfOpen: true,
  })
  socket.write(
    `POST ${RUN} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 5000\r\n\r\n`,
  )
  const [head] = await once(socket, 'data')
  expect(String(head)).toMatch(/^HTTP\/1.1 413 /)
  socket.write('x'.repeat(2_500), () => socket.write('x'.repeat(2_500)))
  await once(socket, 'end')
  socket.end()
  expect(await once(socket, 'close')).toEqual([false])
})

test('a body that ends early: no command, and the gateway keeps serving', async () => {
  const { url, call, executions } = await startGateway()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.end(`POST ${RUN} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n1`)
  await new Promise((resolve) => socket.resume().once('close', resolve))
  expect((await call('GET', '/nope')).status).toBe(404)
  expect(executions.commands).toEqual([])
})

test('requests for the API document: all are answered with one text', async () => {
  const { call } = await startGateway()
  const stringify = vi.spyOn(JSON, 'stringify')
  onTestFinished(() => stringify.mockRestore())
  const read = async () => (await call('GET', '/openapi.json')).text()
  const [first, second] = [await read(), await read()]
  expect(second).toBe(first)
  expect(JSON.parse(first)).toMatchObject({ openapi: '3.1.0', info: { title: 'Windlass' } })
  const made = stringify.mock.calls.filter(([value]) => value?.openapi !== undefined)
  expect(made.length).toBeLessThanOrEqual(1)
})
