import { createHash } from 'node:crypto'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { UnreadAnswers } from '@windlass/runtime/http/unread-answers'
import type { Logger } from '@windlass/runtime/process/log'
import express, { type Express, type Request, type Response } from 'express'
import { type Backend, createMcpServer } from '../mcp-server.ts'
import {
  forbidStoring,
  refuseDuplicateCredentials,
  refuseWebRequests,
  type WebAddress,
} from './guard.ts'

/** Fits a source of 1 MiB escaped as JSON; a larger request gets 413. */
const MAX_REQUEST_BYTES = 8 * 1_048_576
const KEEP_ALIVE_MS = 15_000

interface HttpDeps {
  backend: Backend
  unreadAnswers: UnreadAnswers
  log: Logger
}

/**
 * Creates the app that serves MCP over streamable HTTP at `/mcp`. There are no sessions: each request
 * is complete and carries its own credentials, so any replica can answer it and callers share no state.
 */
export function createHttpApp(deps: HttpDeps, address: WebAddress): Express {
  const app = express()
  app.disable('x-powered-by')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.get('/healthz', (_, res) => void res.json({ status: 'ok' }))
  app.use(refuseWebRequests(address))
  app.post('/mcp', refuseDuplicateCredentials, forbidStoring)
  app.post('/mcp', (req, res) => handleMcpRequest(deps, req, res))
  app.all('/mcp', (_, res) => {
    res.status(405).set('allow', 'POST').json(toRpcError(-32_000, 'Method not allowed'))
  })
  app.use((_, res) => void res.status(404).json({ detail: 'Not Found' }))
  return app
}

async function handleMcpRequest(
  { backend, unreadAnswers, log }: HttpDeps,
  req: Request,
  res: Response,
): Promise<void> {
  if (req.headers['mcp-session-id'] !== undefined) {
    // The server never issues a session id; by the protocol the client then initializes again without one.
    res.status(404).json(toRpcError(-32_001, 'Session not found'))
    return
  }
  const { authorization } = req.headers
  const server = createMcpServer(backend, {
    authorizationOf: () => authorization,
    countUnread: (bytes) => unreadAnswers.add(principalOf(authorization), { bytes }, res),
  })
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    maxRequestBodySize: MAX_REQUEST_BYTES,
    keepAliveMs: KEEP_ALIVE_MS,
  })
  transport.onerror = (error) => log.warn({ err: error }, 'mcp request failed')
  // When a client disconnects, its calls to the API are aborted.
  res.once('close', () => void server.close().catch(() => {}))
  await server.connect(transport)
  await transport.handleRequest(req, res)
}

const toRpcError = (code: number, message: string) => ({
  jsonrpc: '2.0',
  error: { code, message },
  id: null,
})

/** The API authenticates; here a credential stands for its principal. Answers to anonymous callers are counted in total. */
const principalOf = (authorization: string | undefined) =>
  authorization && createHash('sha256').update(authorization).digest('base64')
