import type { Readiness } from '@windlass/runtime/admin/readiness'
import type { Settings } from '@windlass/runtime/config/settings'
import type { BodyBudget } from '@windlass/runtime/http/body-budget'
import type { UnreadAnswers } from '@windlass/runtime/http/unread-answers'
import type { Logger } from '@windlass/runtime/process/log'
import { isTracing, traceIdOf } from '@windlass/runtime/tracing/tracing'
import { type AccessDeps, authenticateRequest, authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { principalKey } from '../access/quotas.ts'
import type { ReadTurns } from '../access/read-turns.ts'
import { recheckAccess } from '../access/stream-recheck.ts'
import type { SharedAnswers } from '../cache/shared-answers.ts'
import type { AuditLog } from '../clients/audit-log.ts'
import { JsonText } from '../domain/views.ts'
import { AuditTrail, isRecordedAt, type RequestInput } from '../route/audit-trail.ts'
import type { BodyLimits } from '../route/body-sizes.ts'
import { readTarget, refuseTarget } from '../route/read-target.ts'
import { StreamedResponse } from '../route/reply.ts'
import type { Route } from '../route/route.ts'
import { acceptedAgeMs, sendAge } from './answer-age.ts'
import type { RequestContext } from './request-context.ts'
import { logRequest } from './request-log.ts'
import { faultOf, sendFault, sendJson } from './response.ts'
import { traceRequest } from './trace-request.ts'

export interface ServerContext<Deps = unknown> {
  settings: Settings
  /** Dependencies that the access rules and the handlers name. */
  deps: Deps & AccessDeps
  auditLog: AuditLog
  limits: BodyLimits
  bodyBudget: BodyBudget
  readTurns: ReadTurns
  /** Answers of routes that are shared. */
  sharedAnswers: SharedAnswers
  unreadAnswers: UnreadAnswers
  log: Logger
  readiness: Pick<Readiness, 'add'>
  /** Receives one line per request. */
  requestLog: Logger
  /** Requests without a complete response. */
  openRequests: Set<RequestContext>
}

/**
 * Handles a routed request: authenticate, read the path and query, authorize, read the body,
 * handle, respond. A malformed path or query is refused after authorization.
 */
export function handleRequest<Deps>(
  route: Route<Deps>,
  ctx: RequestContext,
  raw: Record<string, string>,
  server: ServerContext<Deps>,
): Promise<void> {
  ctx.route = route.path
  const handle = () => handleAndLog(route, ctx, raw, server)
  return isTracing() ? traceRequest(route, ctx, server.settings, handle) : handle()
}

async function handleAndLog<Deps>(
  route: Route<Deps>,
  ctx: RequestContext,
  raw: Record<string, string>,
  server: ServerContext<Deps>,
): Promise<void> {
  server.openRequests.add(ctx)
  try {
    await runRoute(route, ctx, raw, server)
  } catch (error) {
    sendRefusal(route, ctx, error, server.log)
  } finally {
    server.openRequests.delete(ctx)
    logRequest(server, ctx)
  }
}

async function runRoute<Deps>(
  route: Route<Deps>,
  ctx: RequestContext,
  raw: Record<string, string>,
  server: ServerContext<Deps>,
): Promise<void> {
  const { settings, deps, auditLog, limits, bodyBudget, unreadAnswers } = server
  const { readTurns } = server
  const { access, audit } = route
  const caller = await authenticateRequest(access, ctx, deps)
  const { params, query, fault } = readTarget(route, ctx, raw)
  if (fault) return refuseTarget({ access, fault, request: { ctx, params, query, caller } }, deps)
  const principal = principalOf(caller, params)
  ctx.countUnread = (answer) => unreadAnswers.add(principal, answer, ctx.res)
  let bodyRead: Promise<unknown> | undefined
  const body = () => {
    ctx.bodyReservation ??= bodyBudget.open(principal)
    bodyRead ??= route.body.read(ctx, limits)
    return bodyRead
  }
  const input: RequestInput = { params, query, body: undefined, caller, resolved: undefined, ctx }
  const request = { ctx, params, query, body }
  const isAudited = audit && isRecordedAt(audit, settings.audit.level)
  const trail = !isAudited ? undefined : new AuditTrail({ audit, access }, auditLog, input)
  /**
   * Runs a part of the request that may take long; aborts the request once its caller is no longer
   * authorized.
   */
  const checked = <T>(run: () => Promise<T>): Promise<T> => {
    if (!settings.security.auth.enabled) return run()
    const recheck = async () => {
      const now = await authenticateRequest(access, ctx, deps)
      input.resolved = await authorize(access, { ...request, caller: now }, deps)
      input.caller = now
    }
    const intervalMs = settings.workers.heartbeat_interval * 1_000
    const stop = recheckAccess(recheck, intervalMs, (refusal) => ctx.abort(refusal))
    return run().finally(stop)
  }
  let reply: unknown
  try {
    input.resolved = await authorize(access, { ...request, caller }, deps)
    trail?.markAuthorized()
    if (access !== 'public') ctx.onAuthorized()
    input.body = await body()
    await trail?.recordStart()
    const inTurn = () => readTurns.run(route, caller, () => route.handle(input, deps))
    const handle = () => (route.isShared ? shareAnswer(input, inTurn, server) : inTurn())
    reply = await (route.waits ? checked(handle) : handle())
    await trail?.recordSuccess()
  } catch (error) {
    await trail?.recordRefusal(error)
    throw error
  } finally {
    ctx.bodyReservation?.release()
  }
  if (reply instanceof JsonText) sendCounted(ctx, route.status, reply.text)
  else if (reply instanceof StreamedResponse) {
    const { write } = reply
    await checked(() => write(ctx))
  } else sendCounted(ctx, route.status, JSON.stringify(reply))
}

/** Answers a request of which the answer depends on its path, its query and the rights of its caller alone. */
async function shareAnswer(
  { ctx, caller }: RequestInput,
  handle: () => Promise<unknown>,
  { sharedAnswers }: ServerContext,
): Promise<JsonText> {
  const { subject, issuer, key_prefix, roles, ...rights } = caller
  const request = {
    key: JSON.stringify([ctx.path, ctx.search, rights]),
    principal: principalKey(caller),
    maxAgeMs: acceptedAgeMs(ctx),
  }
  const ask = async () => JSON.stringify(await handle())
  const { text, ageMs } = await sharedAnswers.read(request, ask)
  sendAge(ctx, ageMs)
  return new JsonText(text)
}

function sendCounted(ctx: RequestContext, status: number, text: string): void {
  ctx.countUnread({ bytes: text.length })
  sendJson(ctx, status, text)
}

/**
 * The bytes of bodies are counted for each principal and each worker; those of anonymous callers only in
 * total.
 */
function principalOf({ subject, issuer }: Caller, { name }: Record<string, string>) {
  if (subject !== '') return `${issuer} ${subject}`
  return name === undefined ? undefined : `worker ${name}`
}

function sendRefusal(route: Route, ctx: RequestContext, error: unknown, log: Logger): void {
  // A client that closed its connection is not an error.
  if (ctx.isClosed) return
  if (!faultOf(error))
    log.error(
      {
        err: error,
        request_id: ctx.id,
        trace_id: traceIdOf(ctx.traceparent),
        route: route.path,
      },
      'unexpected error',
    )
  if (ctx.res.headersSent) ctx.res.destroy()
  else if (!route.refuse?.(error, ctx)) sendFault(ctx, error)
}
