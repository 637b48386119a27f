import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { failToAccept } from '@windlass/testkit/accept-errors'
import { closedUrl } from '@windlass/testkit/api-fake'
import { expect, test } from 'vitest'
import { callTool, connectOverHttp } from './mcp-fixture.ts'

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}
const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'

/** Sends a request with node:http, because fetch does not allow a Host header. */
function post(url: string, headers: Record<string, string>, body = LIST, method = 'POST') {
  return new Promise<number>((resolve, reject) => {
    const sent = request(
      `${url}/mcp`,
      { method, headers: { ...HEADERS, ...headers } },
      (answer) => {
        resolve(answer.statusCode ?? 0)
        sent.destroy()
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

test('no other service: /healthz answers 200', async () => {
  const { url } = await connectOverHttp({ SVC_MCP__SERVER_URL: await closedUrl() })
  const answer = await fetch(`${url}/healthz`)
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
})

test('a request that the protocol refuses: at most 200 characters of it are logged, below the usual level', async () => {
  const { url, logged } = await connectOverHttp()
  expect(await post(url, { 'mcp-protocol-version': 'x'.repeat(5_000) })).toBe(400)
  const lines = logged()
    .split('\n')
    .filter((line) => line.includes('xxx'))
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 20 }])
  expect(lines[0]?.length).toBeLessThan(600)
})

test('N145: concurrent callers: each call has the token of its own request', async () => {
  const { api, connect } = await connectOverHttp()
  api.answers.set('GET /workers', ({ headers }) => ({
    body: JSON.stringify([headers.authorization ?? 'anonymous']),
  }))
  const callers = ['Bearer a.1', 'Bearer b.2', undefined]
  const clients = await Promise.all(callers.map((authorization) => connect(authorization)))

  const rounds = Array.from({ length: 300 }, async (_, i) => {
    const { structured } = await callTool(clients[i % 3] as (typeof clients)[0], 'list_workers')
    expect(structured).toMatchObject({ workers: [callers[i % 3] ?? 'anonymous'] })
  })
  await Promise.all(rounds)
})

test.each([
  ['CSRF', { origin: 'http://evil.example' }],
  ['CSRF from a sandboxed page', { origin: 'null' }],
  ['CSRF from another port', { host: 'localhost:1234', origin: 'http://localhost:3000' }],
  ['CSRF from a name like loopback', { origin: 'https://localhost.evil.example' }],
  ['CSRF without Origin', { 'sec-fetch-site': 'cross-site' }],
  ['CSRF from the same site', { 'sec-fetch-site': 'same-site' }],
  ['DNS rebinding', { host: 'evil.example' }],
  ['DNS rebinding to a name like loopback', { host: '127.0.0.1.evil.example' }],
  ['user information in Host', { host: 'localhost@evil' }],
  ['an IPv6 address without brackets', { host: '::' }],
])('N147: %s: 403 for each method, and nothing reaches the API', async (_, headers) => {
  const { url, api } = await connectOverHttp()
  for (const method of ['POST', 'GET', 'OPTIONS', 'DELETE'])
    expect(await post(url, headers as Record<string, string>, LIST, method), method).toBe(403)
  expect(api.seen).toEqual([])
})

test('no headers of a browser, or the own origin: served', async () => {
  const { url } = await connectOverHttp()
  expect(await post(url, {})).toBe(200)
  expect(await post(url, { origin: url, 'sec-fetch-site': 'same-origin' })).toBe(200)
  expect(await post(url, { host: 'localhost:1234', origin: 'http://localhost:1234' })).toBe(200)
})

test('/healthz: exempt, for probes that use any name', async () => {
  const { url } = await connectOverHttp()
  const sent = request(`${url}/healthz`, { headers: { host: 'any.example' } }).end()
  const [answer] = await once(sent, 'response')
  expect(answer.resume().statusCode).toBe(200)
})

test('allowed hosts of the server and of MCP: served', async () => {
  const { url } = await connectOverHttp({
    SVC_MCP__HOST: '0.0.0.0',
    SVC_SERVER__ALLOW_ANONYMOUS_NETWORK: 'true',
    SVC_MCP__ALLOWED_HOSTS: 'mcp.example',
    SVC_SERVER__ALLOWED_HOSTS: 'windlass.example',
  })
  expect(await post(url, { host: 'mcp.example:8080' })).toBe(200)
  expect(await post(url, { host: 'mcp.example', origin: 'https://mcp.example' })).toBe(200)
  expect(await post(url, { host: 'mcp.example:8080', origin: 'https://mcp.example' })).toBe(403)
  expect(await post(url, { host: 'windlass.example' })).toBe(200)
  expect(await post(url, { host: '192.0.2.7:8080' })).toBe(200)
  expect(await post(url, { host: 'evil.example' })).toBe(403)
})

test('N148: an unknown session id, GET or DELETE: refused, because sessions have no state', async () => {
  const { url } = await connectOverHttp()
  expect(await post(url, { 'mcp-session-id': 'guessed' })).toBe(404)
  expect(await post(url, {}, '', 'GET')).toBe(405)
  expect(await post(url, {}, '', 'DELETE')).toBe(405)
})

test('N149: a malformed request, or one of 10 MB: a client error, and nothing reaches the API', async () => {
  const { url, api } = await connectOverHttp()
  for (const body of ['', '{', '{"jsonrpc":"1.0"}', `"${'x'.repeat(10_000_000)}"`]) {
    const status = await post(url, {}, body)
    expect(status, body.slice(0, 20)).toBeGreaterThanOrEqual(400)
    expect(status, body.slice(0, 20)).toBeLessThan(500)
  }
  expect(api.seen).toEqual([])
})

test('N151: a client disconnects: its call of the API is aborted', async () => {
  const { url, api } = await connectOverHttp()
  api.answers.set('GET /workers', 'silence')
  const call =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_workers","arguments":{}}}'
  const sent = request(`${url}/mcp`, { method: 'POST', headers: HEADERS })
  sent.on('error', () => {})
  sent.end(call)
  await expect.poll(() => api.seen.length).toBe(1)
  sent.destroy()

  await expect.poll(() => api.seen[0]?.isAborted).toBe(true)
})

test('connections that cannot be accepted: the server serves the next ones', async () => {
  const { url } = await connectOverHttp()
  failToAccept(Number(new URL(url).port))
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})

const answers: [what: string, status: number, request: string, headers?: object][] = [
  ['the health check', 200, 'GET /healthz'],
  ['a list of tools', 200, 'POST /mcp'],
  ['a request of another web page', 403, 'POST /mcp', { origin: 'http://evil.example' }],
  ['an unknown path', 404, 'GET /nope'],
  ['another method', 405, 'GET /mcp'],
  ['an unknown session', 404, 'POST /mcp', { 'mcp-session-id': 'x' }],
]

test.each(answers)('%s (%i): not sniffed and not stored', async (_, status, sent, headers) => {
  const { url } = await connectOverHttp()
  const [method = '', path = ''] = sent.split(' ')
  const body = method === 'POST' ? LIST : null
  const answer = await fetch(url + path, { method, body, headers: { ...HEADERS, ...headers } })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('cache-control')).toContain('no-store')
  await answer.body?.cancel()
})

test('a slow client: refused by the limits that the gateway has', async () => {
  const { url } = await connectOverHttp({ SVC_SERVER__HEADERS_TIMEOUT: '0.1' })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\n')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 408 /)
  socket.destroy()
})
