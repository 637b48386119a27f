import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'
import { openClient, openServer, received, startServer } from './raw-clients.ts'
import { keyOf, keysOfAnnAndBob } from './service-account.ts'

const KIBIBYTE = 1_024
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
const range = (length: number) => Array.from({ length }, (_, i) => i)

test('requests that are sent before the answers are read: begun one after the other, answered in order', async () => {
  let open = 0
  let most = 0
  const port = await startServer({}, (req, res) => {
    most = Math.max(most, ++open)
    res.once('finish', () => open--)
    setTimeout(() => res.end(`<${req.url}>`), 5)
  })
  const requests = range(20).map((i) => get(`/${i}`))
  const last = get('/last', 'Connection: close\r\n')
  const text = await received(openClient(port, requests.join('') + last))
  expect(text.match(/<[^>]+>/g)).toEqual([...range(20).map((i) => `</${i}>`), '</last>'])
  expect(most).toBe(1)
})

test('requests that wait on a connection: other work of the process is done between them', async () => {
  let turn = 0
  let next = setImmediate(function count() {
    turn++
    next = setImmediate(count)
  })
  onTestFinished(() => clearImmediate(next))
  const turns: number[] = []
  const port = await startServer({}, (req, res) => {
    turns.push(turn)
    res.end(`<${req.url}>`)
  })
  const last = get('/last', 'Connection: close\r\n')
  await received(openClient(port, get('/').repeat(10) + last))
  expect(new Set(turns).size).toBe(11)
})

test('a client that reads no answer: at most one is made that its connection does not take', async () => {
  const begun: ServerResponse[] = []
  const port = await startServer({}, (_, res) => {
    begun.push(res)
    res.end(Buffer.alloc(8_192 * KIBIBYTE))
  })
  const socket = openClient(
    port,
    range(20)
      .map((i) => get(`/${i}`))
      .join(''),
  )
  socket.pause()
  await expect.poll(() => begun.length).toBeGreaterThan(0)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(begun.filter((res) => res.writableLength > 0)).toHaveLength(1)
  socket.destroy()
  await expect.poll(() => begun.every((res) => res.closed)).toBe(true)
})

test('more requests than may wait on a connection: it is closed', async () => {
  let begun = 0
  const port = await startServer({}, () => {
    begun++
  })
  expect(await received(openClient(port, get('/').repeat(1_000)))).toBe('')
  expect(begun).toBe(1)
})

test('something that is no request behind a request: the request is answered, then the connection is closed', async () => {
  const port = await startServer({}, (_, res) => void setTimeout(() => res.end('done'), 100))
  const text = await received(openClient(port, `${get('/')}\x01\r\n\r\n`))
  expect(text).toMatch(/^HTTP\/1.1 200 [\s\S]*connection: close[\s\S]*done$/i)
  expect(await received(openClient(port, '\x01\r\n\r\n'))).toMatch(/^HTTP\/1.1 400 /)
})

test('a stop while requests wait on a connection: all are answered', async () => {
  const { port, stop } = await openServer(
    {},
    (req, res) => void setTimeout(() => res.end(`<${req.url}>`), 100),
  )
  const answers = received(
    openClient(
      port,
      range(5)
        .map((i) => get(`/${i}`))
        .join(''),
    ),
  )
  await new Promise((resolve) => setTimeout(resolve, 150))
  await stop({ drainMs: 20_000 })
  const text = await answers
  expect(text.match(/<[^>]+>/g)).toHaveLength(5)
  expect(text.match(/connection: close/gi)).toHaveLength(1)
})

test('a large answer that is being read while the server stops: read to its end', async () => {
  const BYTES = 8_192 * KIBIBYTE
  const { port, stop } = await openServer({}, (_, res) => void res.end(Buffer.alloc(BYTES)))
  const socket = openClient(port, get('/'))
  await expect.poll(() => socket.bytesRead).toBeGreaterThan(0)
  socket.pause()
  const stopped = stop({ drainMs: 20_000 })
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.resume()
  await Promise.all([stopped, closed])
  expect(socket.bytesRead).toBeGreaterThan(BYTES)
})

test.each([
  ['deadline', { answerTimeoutMs: 500, minAnswerBytesPerSecond: 1e9 }],
  ['limit of bytes', { maxUnreadBytes: 1 }],
])(
  'a small answer that is not read, beyond the %s: its connection is closed',
  async (_, limits) => {
    let answer: ServerResponse | undefined
    const port = await startServer(limits, (_, res) => {
      answer = res
      res.end(Buffer.alloc(200 * KIBIBYTE))
    })
    const other = openClient(port, get('/'))
    other.resume()
    // All but the last ones fill the buffers of the operating system.
    const socket = openClient(port, get('/').repeat(32))
    socket.pause()
    await expect.poll(() => answer?.destroyed && !answer.writableFinished).toBe(true)
    expect(other.destroyed).toBe(false)
  },
)

test('event streams behind an event stream: none is open, also not after the connection has closed', async () => {
  const { url, call, executions } = await startGateway(
    { keys: keysOfAnnAndBob() },
    { SVC_SECURITY__AUTH__ENABLED: 'true', SVC_QUOTAS__PRINCIPAL_EVENT_STREAMS: '2' },
  )
  const authorization = `Bearer ${keyOf('0')}`
  const run = '/workflows/default/hello/run/async'
  expect((await call('POST', run, { headers: { authorization } })).status).toBe(200)
  const path = `/executions/${executions.last}/events`
  const one = get(path, `Authorization: ${authorization}\r\n`)
  const socket = openClient(Number(new URL(url).port), one.repeat(10))
  await expect.poll(() => socket.bytesRead).toBeGreaterThan(0)
  const openAnother = async () => {
    const response = await call('GET', path, { headers: { authorization } })
    await response.body?.cancel()
    return response.status
  }
  expect(await openAnother()).toBe(200)
  socket.destroy()
  await expect.poll(openAnother).toBe(200)
})
