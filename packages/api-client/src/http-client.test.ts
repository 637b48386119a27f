import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closedUrl, fakeApi } from '@windlass/testkit/api-fake'
import { expect, onTestFinished, test } from 'vitest'
import { ConnectionError, RequestTimeoutError, ResponseError, StatusError } from './errors.ts'
import type { ServerSentEvent } from './event-stream.ts'
import { type ApiRequest, createApiClient } from './http-client.ts'
import { path } from './path.ts'

const GET: ApiRequest = { method: 'GET', path: path`/workers` }
const noAbort = () => new AbortController().signal
const ANONYMOUS = { authorization: undefined, signal: noAbort() }

/** Serves with this listener until the end of the test; returns its URL. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a call: sends body, query and authorization, and returns the answer byte for byte', async () => {
  const api = await fakeApi()
  const exact = '{"n":9007199254740993, "x":1e400,"__proto__":{"a":1},"n":1.0}'
  api.answers.set('POST /workers?after=a+%2F', { body: exact })
  const query = { after: 'a /', limit: undefined, empty: '' }
  const request: ApiRequest = { method: 'POST', path: path`/workers`, query, body: exact }

  const caller = { authorization: 'Bearer a.b', signal: noAbort() }
  expect(await createApiClient(`${api.url}//`).call(request, caller)).toBe(exact)
  expect(api.seen[0]).toMatchObject({
    body: exact,
    headers: {
      accept: 'application/json',
      authorization: 'Bearer a.b',
      'content-type': 'application/json',
    },
  })
})

test('a call with a precondition: sends the revision in quotes, or that nothing exists', async () => {
  const api = await fakeApi()
  api.answers.set('GET /workers', { body: '[]' })
  const client = createApiClient(api.url)
  await client.call({ ...GET, ifRevision: 'r1' }, ANONYMOUS)
  await client.call({ ...GET, ifAbsent: true }, ANONYMOUS)
  await client.call({ ...GET, ifAbsent: false, ifRevision: undefined }, ANONYMOUS)
  const sent = api.seen.map(({ headers }) => [headers['if-match'], headers['if-none-match']])
  expect(sent).toEqual([
    ['"r1"', undefined],
    [undefined, '*'],
    [undefined, undefined],
  ])
})

test('a call without body and authorization: sends neither header', async () => {
  const api = await fakeApi()
  api.answers.set('GET /workers', { body: '[]' })
  await createApiClient(api.url).call(GET, ANONYMOUS)
  expect(api.seen[0]?.headers).not.toHaveProperty('authorization')
  expect(api.seen[0]?.headers).not.toHaveProperty('content-type')
})

test('a status other than 2xx: StatusError with status, body and detail', async () => {
  const api = await fakeApi()
  const body = '{"detail":"Authorization token required"}'
  api.answers.set('GET /workers', { status: 401, body })
  const failure = await createApiClient(api.url)
    .call(GET, ANONYMOUS)
    .catch((error) => error)
  expect(failure).toBeInstanceOf(StatusError)
  expect(failure).toMatchObject({ status: 401, body, detail: 'Authorization token required' })
  expect(failure.message).toBe(`HTTP error: 401 - ${body}`)
})

test.each(['<html>', '', '{"a":1}]'])('the answer %j is not JSON: ResponseError', async (body) => {
  const api = await fakeApi()
  api.answers.set('GET /workers', { body })
  const answer = createApiClient(api.url).call(GET, ANONYMOUS)
  await expect(answer).rejects.toBeInstanceOf(ResponseError)
})

test('a redirect: refused, so that the token reaches no other server', async () => {
  const other = await fakeApi()
  const url = await serve((_, res) => res.writeHead(307, { location: other.url }).end())
  await expect(createApiClient(url).call(GET, ANONYMOUS)).rejects.toBeInstanceOf(ResponseError)
  expect(other.seen).toEqual([])
})

test('no server, or a connection that breaks: ConnectionError', async () => {
  const client = createApiClient(await closedUrl())
  await expect(client.call(GET, ANONYMOUS)).rejects.toBeInstanceOf(ConnectionError)
  const breaking = createApiClient(await serve((req) => req.socket.destroy()))
  await expect(breaking.call(GET, ANONYMOUS)).rejects.toBeInstanceOf(ConnectionError)
})

test('a server that is silent, before the answer or within it: RequestTimeoutError', async () => {
  const silent: RequestListener[] = [() => {}, (_, res) => res.write('[')]
  for (const listener of silent) {
    const client = createApiClient(await serve(listener))
    const answer = client.call({ ...GET, timeoutMs: 100 }, ANONYMOUS)
    await expect(answer).rejects.toBeInstanceOf(RequestTimeoutError)
    await expect(answer).rejects.toThrow('no answer within 0.1 seconds')
  }
})

test('the caller aborts: the request ends and the call rejects with the reason', async () => {
  const api = await fakeApi()
  api.answers.set('GET /workers', 'silence')
  const caller = new AbortController()
  const answer = createApiClient(api.url).call(GET, { ...ANONYMOUS, signal: caller.signal })
  await expect.poll(() => api.seen.length).toBe(1)
  caller.abort(new Error('no longer needed'))
  await expect(answer).rejects.toThrow('no longer needed')
  await expect.poll(() => api.seen[0]?.isAborted).toBe(true)
})

const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' }

test('a stream: yields each event with its data byte for byte, across chunks', async () => {
  const text = ': ping\n\nevent: task_completed\nid: 7\ndata: {"n":9007199254740993,"s":"ü"}\n\n'
  const bytes = Buffer.from(`${text}data: 1.0\n\n`)
  const url = await serve(async (_, res) => {
    res.writeHead(200, STREAM)
    for (const byte of bytes) res.write(Buffer.of(byte))
    res.end()
  })
  const events: ServerSentEvent[] = []
  for await (const event of createApiClient(url).stream(GET, ANONYMOUS)) events.push(event)
  expect(events).toEqual([
    { event: 'task_completed', id: '7', data: '{"n":9007199254740993,"s":"ü"}' },
    { event: 'message', id: '', data: '1.0' },
  ])
})

test('a loop over a stream is left: the connection closes', async () => {
  let isClosed = false
  const url = await serve((req, res) => {
    req.socket.once('close', () => {
      isClosed = true
    })
    res.writeHead(200, STREAM).write('data: 1\n\n')
  })
  for await (const { data } of createApiClient(url).stream(GET, ANONYMOUS)) {
    expect(data).toBe('1')
    break
  }
  await expect.poll(() => isClosed).toBe(true)
})

test('a stream falls silent: RequestTimeoutError after the events so far', async () => {
  const url = await serve((_, res) => res.writeHead(200, STREAM).write('data: 1\n\n'))
  const stream = createApiClient(url).stream({ ...GET, timeoutMs: 500 }, ANONYMOUS)
  expect((await stream.next()).value).toMatchObject({ data: '1' })
  await expect(stream.next()).rejects.toBeInstanceOf(RequestTimeoutError)
})

test('a stream is refused, or is not one: StatusError or ResponseError', async () => {
  const api = await fakeApi()
  api.answers.set('GET /workers', { body: '{}' })
  const client = createApiClient(api.url)
  await expect(client.stream(GET, ANONYMOUS).next()).rejects.toBeInstanceOf(ResponseError)
  api.answers.set('GET /workers', { status: 403, body: '{"detail":"no"}' })
  await expect(client.stream(GET, ANONYMOUS).next()).rejects.toMatchObject({ detail: 'no' })
})
