import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connectOverHttp } from './mcp-fixture.ts'

const MEBIBYTE = 1_048_576
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
const callOf = (name: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } })

/** A connection that sends a request with this body, or the beginning of a body of `length` bytes. */
function openConnection(url: string, body: string, length = body.length): Socket {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  const headers = {
    ...{ host, 'content-type': 'application/json', 'content-length': length },
    accept: 'application/json, text/event-stream',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  return socket
}

/** Reads from a connection until a text arrives. */
async function readUntil(socket: Socket, end: string): Promise<string> {
  let text = ''
  while (!text.includes(end))
    text += await new Promise<Buffer>((resolve) => socket.once('data', resolve))
  return text
}

const statusOf = async (socket: Socket) => (await readUntil(socket, '\r\n')).slice(9, 12)

async function setup(env: Record<string, string>) {
  const { api, url } = await connectOverHttp(env)
  api.answers.set('GET /health', { body: '{"status":"healthy"}' })
  api.answers.set('GET /workflows', { body: '[]' })
  return { url, send: (body: string) => openConnection(url, body) }
}

test.each([
  ['a ping', PING],
  ['a call that needs no credential', callOf('health_check')],
])('open connections of clients that sent only %s: limited for each address', async (_, body) => {
  const { send } = await setup({ SVC_SERVER__MAX_PENDING_CONNECTIONS: '2' })
  const [first, second] = [send(body), send(body)]
  expect([await statusOf(first), await statusOf(second)]).toEqual(['200', '200'])
  expect(await statusOf(send(body))).toBe('503')
  first.destroy()
  await expect.poll(async () => statusOf(send(body))).toBe('200')
})

test('connections of clients that the API has served: not limited', async () => {
  const { send } = await setup({ SVC_SERVER__MAX_PENDING_CONNECTIONS: '1' })
  for (let i = 0; i < 3; i++) {
    const socket = send(callOf('list_workflows'))
    expect(await readUntil(socket, '"success":true')).toMatch(/^HTTP\/1.1 200 /)
  }
})

test('bodies that are being received, beyond the budget of the address: 503 until there is space', async () => {
  const { url, send } = await setup({
    SVC_SERVER__MAX_PRINCIPAL_BODY_BYTES_IN_FLIGHT: String(6 * MEBIBYTE),
  })
  const held = openConnection(url, '{', 5 * MEBIBYTE)
  const large = PING.padEnd(5 * MEBIBYTE)
  await expect.poll(async () => statusOf(send(large))).toBe('503')
  expect(await statusOf(send(PING))).toBe('200')
  held.destroy()
  await expect.poll(async () => statusOf(send(large))).toBe('200')
})
