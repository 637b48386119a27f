import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'
import { echo, openClient, received, startServer } from './raw-clients.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `Bearer wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n'

test('headers that do not end: 408 after the timeout', async () => {
  const port = await startServer({ headersTimeoutMs: 100 })
  expect(await received(openClient(port, HEAD))).toMatch(/^HTTP\/1.1 408 /)
})

test('headers that arrive line by line without an end (Slowloris): 408 after the timeout', async () => {
  const port = await startServer({ headersTimeoutMs: 500 })
  const socket = openClient(port, 'GET / HTTP/1.1\r\n')
  const trickle = setInterval(() => socket.write('x: y\r\n'), 20)
  onTestFinished(() => clearInterval(trickle))
  expect(await received(socket)).toMatch(/^HTTP\/1.1 408 /)
})

test('a connection on which nothing is sent: 408 after the timeout', async () => {
  const port = await startServer({ headersTimeoutMs: 100 })
  expect(await received(openClient(port, ''))).toMatch(/^HTTP\/1.1 408 /)
})

test('headers that do not end: 503 for connections of their address above the limit', async () => {
  const port = await startServer({ maxPendingConnections: 3 })
  for (let i = 0; i < 3; i++) openClient(port, 'GET / HTTP/1.1\r\nx:')
  await expect
    .poll(async () => (await received(openClient(port, ''))).slice(0, 12))
    .toBe('HTTP/1.1 503')
})

test('a body that does not end: 408 after the timeout', async () => {
  const port = await startServer({ headersTimeoutMs: 100, bodyTimeoutMs: 200 })
  expect(await received(openClient(port, `${HEAD}\r\nx`))).toMatch(/^HTTP\/1.1 408 /)
})

test('a body below the minimum rate: 408, one above it is read to its end', async () => {
  const port = await startServer({ minBodyBytesPerSecond: 1_000, slowWindowMs: 500 })
  const slow = openClient(port, `${HEAD}\r\n`)
  const steady = openClient(port, `${HEAD}\r\n`)
  let unsent = 100_000
  const trickle = setInterval(() => {
    slow.write('x')
    steady.write('x'.repeat(Math.min(unsent, 10_000)))
    unsent -= Math.min(unsent, 10_000)
  }, 100)
  onTestFinished(() => clearInterval(trickle))
  const done = received(steady)
  expect(await received(slow)).toMatch(/^HTTP\/1.1 408 /)
  await expect.poll(() => steady.bytesRead).toBeGreaterThan(0)
  clearInterval(trickle)
  steady.destroy()
  expect(await done).toMatch(/^HTTP\/1.1 200 [\s\S]*done$/)
})

test('a body that waits for the server: not counted as slow', async () => {
  const port = await startServer(
    { minBodyBytesPerSecond: 1_000, slowWindowMs: 100 },
    (req, res) => void setTimeout(() => echo(req, res, () => {}), 1_000),
  )
  const socket = openClient(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n')
  socket.write('x'.repeat(200_000))
  const answer = received(socket)
  await expect.poll(() => socket.bytesRead).toBeGreaterThan(0)
  socket.destroy()
  expect(await answer).toMatch(/^HTTP\/1.1 200 /)
})

test('connections of one address without an authorized request: 503 above the limit', async () => {
  const port = await startServer({ maxPendingConnections: 3 })
  const held = Array.from({ length: 3 }, () => openClient(port, `${HEAD}\r\n`))
  await expect
    .poll(async () => (await received(openClient(port, HEAD))).slice(0, 12))
    .toBe('HTTP/1.1 503')
  const refused = await received(openClient(port, HEAD))
  expect(refused).toMatch(/retry-after: 1\r\n/i)
  held[0]?.destroy()
  const open = () => openClient(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await expect.poll(async () => (await received(open())).slice(0, 12)).toBe('HTTP/1.1 200')
})

test('connections whose request was authorized: not counted', async () => {
  const port = await startServer({ maxPendingConnections: 2 }, (req, res, onAuthorized) => {
    onAuthorized()
    echo(req, res, onAuthorized)
  })
  const clients = Array.from({ length: 10 }, async (_, i) => {
    await new Promise((resolve) => setTimeout(resolve, i * 50))
    const socket = openClient(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await expect.poll(() => socket.bytesRead).toBeGreaterThan(0)
    return !socket.destroyed && socket.readable
  })
  expect(await Promise.all(clients)).toEqual(Array(10).fill(true))
})

test('behind a proxy: requests of each forwarded address are counted, not connections', async () => {
  const port = await startServer({ maxPendingConnections: 2, trustedProxies: 1 })
  const open = (address: string) => openClient(port, `${HEAD}X-Forwarded-For: ${address}\r\n\r\n`)
  open('10.0.0.1')
  open('10.0.0.1')
  await expect
    .poll(async () => (await received(open('10.0.0.1'))).slice(0, 12))
    .toBe('HTTP/1.1 503')
  const other = openClient(
    port,
    'GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.0.0.2\r\nConnection: close\r\n\r\n',
  )
  expect(await received(other)).toMatch(/^HTTP\/1.1 200 /)
})

test('an unauthenticated slow body: refused at once, and its connection closed within seconds', async () => {
  const { url } = await startGateway(
    {
      keys: {
        async find() {
          const account = { principal: serviceAccount(), permissions: ['*'] }
          return { account, expires_at: undefined }
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true', SVC_SERVER__MAX_PENDING_CONNECTIONS: '1' },
  )
  const port = Number(new URL(url).port)
  const head = 'POST /admin/roles HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n'
  const slow = openClient(port, `${head}\r\n`)
  const answer = received(slow)
  await expect.poll(() => slow.bytesRead).toBeGreaterThan(0)
  expect(await received(openClient(port, head))).toMatch(/^HTTP\/1.1 503 /)
  expect(await answer).toMatch(/^HTTP\/1.1 401 /)
  // An authorized request ends the count of its connection.
  const get = 'GET /executions?limit=0 HTTP/1.1\r\nHost: localhost\r\n'
  const authorized = () => openClient(port, `${get}Authorization: ${KEY}\r\n\r\n`)
  const first = authorized()
  await expect.poll(() => first.bytesRead).toBeGreaterThan(0)
  const second = authorized()
  await expect.poll(() => second.bytesRead).toBeGreaterThan(0)
  expect(first.destroyed).toBe(false)
})
