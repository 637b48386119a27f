import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { BodyBudget } from '@windlass/runtime/http/body-budget'
import { clientAddress } from '@windlass/runtime/http/client-address'
import type { UnreadAnswers } from '@windlass/runtime/http/unread-answers'
import type { Logger } from '@windlass/runtime/process/log'
import express, { type Request, type Response } from 'express'
import { type Backend, createMcpServer } from '../mcp-server.ts'
import { ClientSessions, isSessionId, newSessionId } from './client-sessions.ts'
import {
  forbidStoring,
  refuseDuplicateCredentials,
  refuseWebRequests,
  type WebAddress,
} from './guard.ts'
import { RequestRefusal, readMessages } from './read-messages.ts'

/** A refusal may repeat a whole header of the client. */
const MAX_REASON_CHARS = 200
const KEEP_ALIVE_MS = 15_000

interface HttpOptions {
  backend: Backend
  bodyBudget: BodyBudget
  unreadAnswers: UnreadAnswers
  /** Number of trusted hops in X-Forwarded-For. */
  trustedProxies: number
  /** False while replicas of releases that refuse session ids may run. */
  issuesSessionIds: boolean
  log: Logger
}

interface HttpDeps extends HttpOptions {
  sessions: ClientSessions
}

/**
 * Creates the app that serves MCP over streamable HTTP at `/mcp`. Sessions have no state: each request
 * is complete and carries its own credentials, so any replica can answer it and callers share no state.
 */
export function createHttpApp(options: HttpOptions, address: WebAddress): HttpApp {
  const deps = { ...options, sessions: new ClientSessions() }
  const authorizations = new WeakMap<IncomingMessage, () => void>()
  const app = express()
  app.disable('x-powered-by')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.get('/healthz', (_, res) => void res.json({ status: 'ok' }))
  app.use(refuseWebRequests(address))
  app.post('/mcp', refuseDuplicateCredentials, forbidStoring)
  app.post('/mcp', (req, res) => {
    const onAuthorized = () => authorizations.get(req)?.()
    return handleMcpRequest({ ...deps, onAuthorized }, req, res)
  })
  app.all('/mcp', (_, res) => {
    res.status(405).set('allow', 'POST').json(toRpcError(-32_000, 'Method not allowed'))
  })
  return (req, res, onAuthorized) => {
    authorizations.set(req, onAuthorized)
    app(req as Request, res as Response, (error) => end(res, error, deps.log))
  }
}

/** Ends a request that no handler ended: Express would answer as HTML, and an error with its stack. */
function end(res: ServerResponse, error: unknown, log: Logger): void {
  if (error !== undefined) log.error({ err: error }, 'failed to handle a request')
  if (res.headersSent) return void res.destroy()
  const [status, detail] = error === undefined ? [404, 'Not Found'] : [500, 'Internal Server Error']
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ detail }))
}

/** `onAuthorized` is called once the API has served the client. */
type HttpApp = (req: IncomingMessage, res: ServerResponse, onAuthorized: () => void) => void

interface RequestDeps extends HttpDeps {
  onAuthorized(): void
}

async function handleMcpRequest(deps: RequestDeps, req: Request, res: Response): Promise<void> {
  const sessionId = req.get('mcp-session-id')
  if (sessionId !== undefined && !isSessionId(sessionId, principalOf(req.headers.authorization))) {
    // By the protocol the client then initializes again without one.
    res.status(404).json(toRpcError(-32_001, 'Session not found'))
    return
  }
  const reservation = deps.bodyBudget.open(clientAddress(req, deps.trustedProxies))
  // The messages are kept until the last of them is answered.
  res.once('close', () => reservation.release())
  try {
    await serveMessages(deps, { req, res, messages: await readMessages(req, reservation) })
  } catch (error) {
    if (!(error instanceof RequestRefusal)) throw error
    const { status, code, message } = error
    if (status === 503) res.set('retry-after', '1')
    if (!res.destroyed) res.status(status).json(toRpcError(code, message))
  }
}

interface Received {
  req: Request
  res: Response
  messages: unknown
}

async function serveMessages(
  { backend, sessions, issuesSessionIds, unreadAnswers, onAuthorized, log }: RequestDeps,
  { req, res, messages }: Received,
): Promise<void> {
  const { authorization } = req.headers
  const server = createMcpServer(backend, {
    authorizationOf: () => authorization,
    countUnread: (bytes) => unreadAnswers.add(principalOf(authorization), { bytes }, res),
    onAuthorized,
  })
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    keepAliveMs: KEEP_ALIVE_MS,
  })
  // Any client can cause this, and the answer tells it why: such a request must not fill the log.
  transport.onerror = ({ message }) =>
    log.debug({ reason: message.slice(0, MAX_REASON_CHARS) }, 'mcp request refused')
  const close = () => void server.close().catch(() => {})
  const credential = principalOf(authorization)
  const sessionId = req.get('mcp-session-id')
  const untrack = sessions.track({ messages, credential, sessionId }, close)
  // When a client disconnects or cancels, its calls to the API are aborted.
  res.once('close', () => {
    untrack?.()
    close()
  })
  const issued = issuesSessionIds ? newSessionId(messages, credential) : undefined
  if (issued !== undefined) res.set('mcp-session-id', issued)
  await server.connect(transport)
  await transport.handleRequest(req, res, messages)
}

const toRpcError = (code: number, message: string) => ({
  jsonrpc: '2.0',
  error: { code, message },
  id: null,
})

/** The API authenticates; here a credential stands for its principal. Answers to anonymous callers are counted in total. */
const principalOf = (authorization: string | undefined) =>
  authorization && createHash('sha256').update(authorization).digest('base64')
