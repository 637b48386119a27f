import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { HttpLimits } from '@windlass/runtime/http/connections'
import { startHttpServer } from '@windlass/runtime/http/http-server'
import type { ServerTls } from '@windlass/runtime/tls/server-tls'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'

const LIMITS: HttpLimits = {
  headersTimeoutMs: 20_000,
  bodyTimeoutMs: 20_000,
  minBodyBytesPerSecond: 0,
  maxPendingConnections: 0,
  trustedProxies: 0,
  answerTimeoutMs: 60_000,
  minAnswerBytesPerSecond: 0,
  maxUnreadBytes: 0,
}

export const openClient = (port: number, bytes: string): Socket => {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.write(bytes)
  return socket
}

/** Resolves to all that the server sends until it closes the connection. */
export const received = (socket: Socket) =>
  new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.once('close', () => resolve(text))
  })

type OnRequest = (req: IncomingMessage, res: ServerResponse, onAuthorized: () => void) => void

/** Reads every body and answers when it has ended. */
export const echo: OnRequest = (req, res) => {
  req.resume().once('end', () => res.end('done'))
}

/** Starts the HTTP server of this system with a handler of its own. */
export async function openServer(
  limits: Partial<HttpLimits>,
  onRequest: OnRequest = echo,
  tls?: ServerTls,
) {
  const log = pino({ level: 'silent' })
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    limits: { ...LIMITS, ...limits },
    log,
    tls,
    onRequest,
  })
  onTestFinished(() => server.stop({ drainMs: 0 }))
  return server
}

/** The same; returns its port. */
export const startServer = async (limits: Partial<HttpLimits>, onRequest?: OnRequest) =>
  (await openServer(limits, onRequest)).port
