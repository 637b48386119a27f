import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connectOverHttp } from './mcp-fixture.ts'

const MEBIBYTE = 1_048_576
/** More than the buffers of a connection take; a result contains it twice. */
const RESULT_BYTES = 12 * MEBIBYTE

/** A call whose result is large. */
const CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'health_check', arguments: {} },
})

/** Space for the result of one call of a principal, and for two results in total. */
async function setup(env: Record<string, string> = {}) {
  const { api, url } = await connectOverHttp({
    SVC_SERVER__MAX_PRINCIPAL_BODY_BYTES_IN_FLIGHT: String(30 * MEBIBYTE),
    SVC_SERVER__MAX_BODY_BYTES_IN_FLIGHT: String(60 * MEBIBYTE),
    ...env,
  })
  const health = { status: 'x'.repeat(RESULT_BYTES) }
  api.answers.set('GET /health', { body: JSON.stringify(health) })
  const headersOf = (token: string) => ({
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  })
  const call = async (token: string) =>
    (await fetch(`${url}/mcp`, { method: 'POST', headers: headersOf(token), body: CALL })).text()
  const stall = (token: string) => stalledCall(url, headersOf(token))
  return { call, stall }
}

/** Calls the tool and stops reading after the first bytes of the result. */
async function stalledCall(url: string, headers: Record<string, string>): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  const all = { ...headers, host, 'content-length': String(CALL.length) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${CALL}`)
  let head = ''
  while (!head.includes('data: '))
    head += await new Promise<Buffer>((resolve) => socket.once('data', resolve))
  socket.pause()
  return socket
}

const refusal = 'answers that are not read'

test('a principal that does not read a large result: its next one is refused, others are not concerned', async () => {
  const { call, stall } = await setup()
  const stalled = await stall('a')
  expect(await call('a')).toContain(refusal)
  expect((await call('b')).length).toBeGreaterThan(2 * RESULT_BYTES)

  stalled.destroy()
  await expect.poll(() => call('a'), { interval: 500 }).not.toContain(refusal)
})

test('a large result that is read byte by byte: cut off after its deadline', async () => {
  const { call, stall } = await setup({
    SVC_SERVER__ANSWER_TIMEOUT: '1',
    SVC_SERVER__MIN_ANSWER_RATE: String(32 * MEBIBYTE),
  })
  const slow = await stall('a')
  const trickle = setInterval(() => slow.read(1), 50)
  onTestFinished(() => clearInterval(trickle))
  // On a busy machine another result may exceed its own deadline.
  const callAgain = () => call('a').catch(() => refusal)
  await expect.poll(callAgain, { interval: 500 }).not.toContain(refusal)
  const closed = new Promise((resolve) => slow.once('close', resolve))
  slow.resume()
  await closed
  expect(slow.bytesRead).toBeGreaterThan(MEBIBYTE)
  expect(slow.bytesRead).toBeLessThan(2 * RESULT_BYTES)
})
