import { once } from 'node:events'
import { request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { readServerTls } from '@windlass/runtime/tls/server-tls'
import { createAuthority } from '@windlass/testkit/certificates'
import { expect, onTestFinished, test } from 'vitest'
import { openServer } from './raw-clients.ts'

const HANDSHAKE_MS = 300
/** Type, version and length of the first record of a TLS handshake, whose content never comes. */
const RECORD_HEAD = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00])

/** Starts a server with TLS that waits HANDSHAKE_MS for a handshake. */
async function startTlsServer(maxPendingConnections = 0) {
  const authority = await createAuthority()
  const { certFile, keyFile } = await authority.issue('localhost')
  const tls = await readServerTls('[svc.server]', { tls_cert: certFile, tls_key: keyFile })
  if (!tls) throw new Error('no certificate was read')
  const options = { ...tls.options, handshakeTimeout: HANDSHAKE_MS }
  const { port } = await openServer({ maxPendingConnections }, undefined, { ...tls, options })
  return { port, ca: authority.ca }
}

function openSocket(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  return socket.on('error', () => {}).resume()
}

/** Status of one request on a connection of its own; rejects if it is closed before the answer. */
const get = (port: number, ca: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, ca, agent: false, servername: 'localhost' })
    call.on('response', (response) => resolve(response.resume().statusCode))
    call.on('error', reject).end()
  })

/** Resolves when the server has closed the connection. */
const closed = (socket: Socket) => (socket.closed ? undefined : once(socket, 'close'))

test('TLS handshakes that do not end: closed after the deadline, also those sent byte by byte', async () => {
  const { port, ca } = await startTlsServer()
  const silent = openSocket(port)
  const partial = openSocket(port)
  partial.write(RECORD_HEAD)
  const slow = openSocket(port)
  const bytes = [...RECORD_HEAD, ...Buffer.alloc(512)]
  const trickle = setInterval(() => slow.write(Buffer.from([bytes.shift() ?? 0])), 20)
  onTestFinished(() => clearInterval(trickle))
  await Promise.all([silent, partial, slow].map(closed))
  expect(await get(port, ca)).toBe(200)
})

test('TLS handshakes that do not end: connections of their address above the limit are closed', async () => {
  const { port, ca } = await startTlsServer(3)
  const held = Array.from({ length: 3 }, () => openSocket(port))
  await Promise.all(held.map((socket) => once(socket, 'connect')))
  // The server counts a connection a moment after the client has it.
  await expect.poll(() => get(port, ca).catch((error) => error.code)).toBe('ECONNRESET')
  expect(held.map((socket) => socket.closed)).toEqual([false, false, false])
  await Promise.all(held.map(closed))
  expect(await get(port, ca)).toBe(200)
})
