import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closedUrl } from '@windlass/testkit/api-fake'
import { expect, onTestFinished, test } from 'vitest'
import { ConnectionError, StatusError } from './errors.ts'
import { type ApiRequest, createApiClient } from './http-client.ts'
import type { Repeatability } from './retry.ts'

const caller = () => ({ authorization: undefined, signal: new AbortController().signal })
const POST: ApiRequest = { method: 'POST', path: '/x', body: '{}' }

type Failure = 'broken' | number

/** Serves one failure, then success; returns the URL and the headers of the requests. */
async function failOnce(failure: Failure, retryAfter?: string) {
  const seen: (string | string[] | undefined)[] = []
  const listener: RequestListener = (req, res) => {
    seen.push(req.headers['idempotency-key'])
    req.resume()
    if (seen.length > 1) return void res.end('{}')
    if (failure === 'broken') return void req.socket.destroy()
    if (retryAfter !== undefined) res.setHeader('retry-after', retryAfter)
    res.writeHead(failure).end('{"detail":"no"}')
  }
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** The rules of the Python client: a failure, the repeatability, true if the request is sent again. */
const RULES: [failure: Failure, repeatability: Repeatability, isRepeated: boolean][] = [
  [429, undefined, true],
  [429, 'once', true],
  [503, undefined, true],
  [503, 'once', false],
  [503, 'repeatable', true],
  [502, undefined, false],
  [502, 'repeatable', true],
  [500, undefined, false],
  [500, 'repeatable', true],
  [504, 'once', false],
  [400, 'repeatable', false],
  [409, 'repeatable', false],
]

test.each(RULES)(
  'status %s of a request that is %s: sent again %s',
  async (failure, repeatability, isRepeated) => {
    const { url, seen } = await failOnce(failure)
    const client = createApiClient(url, { retryForMs: 20_000 })
    const answer = client.call({ ...POST, repeatability }, caller())
    if (isRepeated) expect(await answer).toBe('{}')
    else await expect(answer).rejects.toBeInstanceOf(StatusError)
    expect(seen).toHaveLength(isRepeated ? 2 : 1)
  },
)

test('a lost connection: a start with a key is sent again with the same key', async () => {
  const { url, seen } = await failOnce('broken')
  const client = createApiClient(url, { retryForMs: 20_000 })
  await client.call({ ...POST, path: '/warm', idempotencyKey: 'k' }, caller()).catch(() => {})
  expect(await client.call({ ...POST, idempotencyKey: 'k' }, caller())).toBe('{}')
  expect(new Set(seen)).toEqual(new Set(['k']))
})

test('Retry-After beyond the budget of the client or of the call, or no budget: fails at once', async () => {
  const late = await failOnce(503, '60')
  const client = createApiClient(late.url, { retryForMs: 20_000 })
  await expect(client.call(POST, caller())).rejects.toMatchObject({ retryAfterMs: 60_000 })
  const own = await failOnce(503, '60')
  const patient = createApiClient(own.url, { retryForMs: 120_000 })
  const call = patient.call({ ...POST, retryForMs: 20_000 }, caller())
  await expect(call).rejects.toMatchObject({ status: 503 })
  const single = await failOnce(503)
  await expect(createApiClient(single.url).call(POST, caller())).rejects.toMatchObject({
    status: 503,
  })
  expect([late.seen.length, own.seen.length, single.seen.length]).toEqual([1, 1, 1])
})

test('Retry-After within the budget: sent again after it', async () => {
  const { url, seen } = await failOnce(429, '1')
  const begun = performance.now()
  await createApiClient(url, { retryForMs: 20_000 }).call(POST, caller())
  expect(performance.now() - begun).toBeGreaterThanOrEqual(990)
  expect(seen).toHaveLength(2)
})

test('no server at the URL: fails at once, so that a wrong URL is found', async () => {
  const client = createApiClient(await closedUrl(), { retryForMs: 600_000 })
  await expect(client.call(POST, caller())).rejects.toBeInstanceOf(ConnectionError)
})

test('a server that is away after it has answered: even a request that is sent once waits for it', async () => {
  const first = createServer((_, res) => res.end('1')).listen(0, '127.0.0.1')
  await once(first, 'listening')
  const { port } = first.address() as AddressInfo
  const client = createApiClient(`http://127.0.0.1:${port}`, { retryForMs: 60_000 })
  expect(await client.call(POST, caller())).toBe('1')
  first.closeAllConnections()
  await new Promise((done) => first.close(done))
  const answer = client.call({ ...POST, repeatability: 'once' }, caller())
  const second = createServer((_, res) => res.end('2')).listen(port, '127.0.0.1')
  onTestFinished(() => {
    second.closeAllConnections()
    second.close()
  })
  expect(await answer).toBe('2')
})

test('the caller aborts between two attempts: the call rejects with the reason', async () => {
  const { url, seen } = await failOnce(503, '15')
  const controller = new AbortController()
  const client = createApiClient(url, { retryForMs: 20_000 })
  const answer = client.call(POST, { authorization: undefined, signal: controller.signal })
  await expect.poll(() => seen.length).toBe(1)
  setTimeout(() => controller.abort(new Error('no longer needed')), 50)
  await expect(answer).rejects.toThrow('no longer needed')
})
