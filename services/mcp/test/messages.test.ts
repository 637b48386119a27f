import { once } from 'node:events'
import { connect } from 'node:net'
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { connectOverHttp } from './mcp-fixture.ts'

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

/** Starts the server; `post` sends a body and returns the status, and the error of the response if it has one. */
async function setup(env: Record<string, string> = {}) {
  const { api, url } = await connectOverHttp(env)
  const post = async (body: string | Uint8Array<ArrayBuffer>) => {
    const answer = await fetch(`${url}/mcp`, { method: 'POST', headers: HEADERS, body })
    const text = await answer.text()
    const json = /^data: (.*)$/m.exec(text)?.[1] ?? (text || '{}')
    const { error, result } = JSON.parse(json)
    return { status: answer.status, headers: answer.headers, error, result, text }
  }
  return { api, url, post }
}

const call = (id: unknown, name = 'list_workers', more: object = {}) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name, arguments: {}, ...more },
})

const CLIENT = { name: 'test', version: '1' }
const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: CLIENT }

const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
const INVALID_PARAMS = -32_602

test.each<[what: string, body: string | Uint8Array<ArrayBuffer>, code: number]>([
  ['no JSON', '{', PARSE_ERROR],
  ['an empty body', '', PARSE_ERROR],
  [
    'bytes that are not UTF-8',
    Buffer.from(JSON.stringify(call(1, 'list_workers', { _meta: { note: 'ÿ' } })), 'latin1'),
    PARSE_ERROR,
  ],
  ['a text', '"x"', INVALID_REQUEST],
  ['no version', '{"id":1,"method":"ping"}', INVALID_REQUEST],
  ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', INVALID_REQUEST],
  ['null as id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST],
  ['a fraction as id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST],
  ['an id beyond 2^53', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', INVALID_REQUEST],
  [
    'an object as progress token',
    JSON.stringify(call(1, 'list_workers', { _meta: { progressToken: {} } })),
    INVALID_REQUEST,
  ],
  ['an empty batch', '[]', INVALID_REQUEST],
  ['65 levels', '['.repeat(65) + ']'.repeat(65), INVALID_REQUEST],
  ['a million values', `[${'0,'.repeat(1_000_000)}0]`, INVALID_REQUEST],
  ['one id twice in a batch', JSON.stringify([call(1), call(1)]), INVALID_REQUEST],
])('%s: 400 with the code of the protocol, and nothing reaches the API', async (_, body, code) => {
  const { api, post } = await setup()
  expect(await post(body)).toMatchObject({ status: 400, error: { code } })
  expect(api.seen).toEqual([])
})

test.each<[what: string, method: string, params: object]>([
  ['a call without a name', 'tools/call', {}],
  ['a number as name', 'tools/call', { name: 5 }],
  ['a list as arguments', 'tools/call', { name: 'list_workers', arguments: [] }],
  ['a number as cursor', 'tools/list', { cursor: 5 }],
  ['initialize without a version', 'initialize', { capabilities: {}, clientInfo: CLIENT }],
  ['a number as name of the client', 'initialize', { ...INITIALIZE, clientInfo: { name: 5 } }],
])('%s: the error -32602', async (_, method, params) => {
  const { api, post } = await setup()
  const { status, error } = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  expect([status, error?.code]).toEqual([200, INVALID_PARAMS])
  expect(api.seen).toEqual([])
})

test.each([
  ['supported', '2025-06-18', '2025-06-18'],
  ['unknown', '1999-01-01', LATEST_PROTOCOL_VERSION],
])(
  'initialize with a version that is %s: the answer names one that both may use',
  async (_, protocolVersion, answered) => {
    const { post } = await setup()
    const params = { ...INITIALIZE, protocolVersion }
    const { result } = await post(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    )
    expect(result).toMatchObject({
      protocolVersion: answered,
      capabilities: { tools: {} },
      serverInfo: { name: expect.any(String), version: expect.any(String) },
      instructions: expect.any(String),
    })
  },
)

test('a batch of different ids, of which 1 and "1" are two: each is answered', async () => {
  const { api, post } = await setup()
  api.answers.set('GET /workers', { body: '[]' })
  const { text } = await post(JSON.stringify([call(1), call('1'), call('x'.repeat(10_000))]))
  expect(text.match(/"count\\":0/g)).toHaveLength(3)
  expect(api.seen).toHaveLength(3)
})

test('an unknown tool or argument with a name of 1 MB: an error that is short', async () => {
  const { post } = await setup()
  const long = 'x'.repeat(1_000_000)
  const unknown = await post(JSON.stringify(call(1, long)))
  expect(unknown.error).toMatchObject({ code: INVALID_PARAMS })
  expect(unknown.text.length).toBeLessThan(20_000)
  const extra = call(1, 'list_workers', { arguments: { [long]: 1 } })
  const refused = await post(JSON.stringify(extra))
  expect(refused.result).toMatchObject({ isError: true })
  expect(refused.text.length).toBeLessThan(20_000)
})

test('a compressed request: 415', async () => {
  const { url } = await setup()
  const headers = { ...HEADERS, 'content-encoding': 'gzip' }
  const answer = await fetch(`${url}/mcp`, { method: 'POST', headers, body: '{}' })
  expect([answer.status, await answer.text()]).toEqual([415, expect.stringContaining("'gzip'")])
})

test('a target that is no URL: 404 as JSON', async () => {
  const { url } = await setup()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write('GET http://[::1/mcp HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 404 .*{"detail":"Not Found"}/s)
})

/** Sends the head of a request, and a part of its body. */
function sendPart(url: string, length: number, part: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const lines = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}content-length: ${length}\r\n\r\n${part}`,
  )
  return socket
}

test('bodies that never end, from one address: the next one is refused until they are gone', async () => {
  const { url, post } = await setup({ SVC_SERVER__MAX_PRINCIPAL_BODY_BYTES_IN_FLIGHT: '1000' })
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  const unfinished = sendPart(url, 990, ping)
  await expect.poll(async () => (await post(ping)).status, { timeout: 30_000 }).toBe(503)
  const refused = await post(ping)
  expect(refused.error.message).toContain('retry')
  expect(refused.headers.get('retry-after')).toBe('1')
  unfinished.destroy()
  await expect.poll(async () => (await post(ping)).status, { timeout: 30_000 }).toBe(200)
})

test('a declared length above the limit: 413 before the body is read', async () => {
  const { url } = await setup()
  const socket = sendPart(url, 9_000_000, '')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 413 /)
})
