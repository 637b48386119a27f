import type { Logger } from '@windlass/runtime/process/log'
import { authenticateRequest, authorize } from '../access/authorize.ts'
import { recheckAccess } from '../access/stream-recheck.ts'
import type { Services } from '../clients/connect.ts'
import { JsonText } from '../domain/views.ts'
import { AuditTrail, type RequestInput } from '../route/audit-trail.ts'
import type { BodyLimits } from '../route/body.ts'
import { StreamedResponse } from '../route/reply.ts'
import type { Route } from '../route/route.ts'
import type { RequestContext } from './request-context.ts'
import { logRequest } from './request-log.ts'
import { faultOf, sendFault, sendJson } from './response.ts'

export interface ServerContext {
  services: Services
  limits: BodyLimits
  log: Logger
  /** Takes the line of each request. */
  requestLog: Logger
  /** What is being answered just now. */
  openRequests: Set<RequestContext>
}

/** One request of a route, whoever routed it: who is asking, for what, may they, with which body; then the handler. */
export async function handleRequest(
  route: Route,
  ctx: RequestContext,
  raw: Record<string, string>,
  serving: ServerContext,
): Promise<void> {
  ctx.route = route.path
  serving.openRequests.add(ctx)
  try {
    await runRoute(route, ctx, raw, serving)
  } catch (error) {
    sendRefusal(route, ctx, error, serving.log)
  } finally {
    serving.openRequests.delete(ctx)
    logRequest(serving, ctx)
  }
}

async function runRoute(
  route: Route,
  ctx: RequestContext,
  raw: Record<string, string>,
  { services, limits }: ServerContext,
): Promise<void> {
  const { auth } = services.settings.security
  const caller = await authenticateRequest(route.access, ctx, services)
  const params: Record<string, string> = {}
  for (const name in route.params)
    params[name] = route.params[name]?.read(raw[name] ?? '') as string
  const query = route.readQuery(ctx.search) as { version?: number }
  let taken: Promise<unknown> | undefined
  const body = () => {
    taken ??= route.body.read(ctx, limits)
    return taken
  }
  const input = {
    params,
    query,
    body: undefined,
    caller,
    resolved: undefined,
    services,
    ctx,
  } as Input
  const asked = { ctx, params, query, services, body }
  const { audit, access } = route
  const trail = audit && new AuditTrail({ audit, access }, services.auditLog, input)
  let reply: unknown
  try {
    input.resolved = await authorize(access, { ...asked, caller })
    trail?.markAuthorized()
    input.body = await body()
    await trail?.recordStart()
    reply = await route.handle(input)
    await trail?.recordSuccess()
  } catch (error) {
    await trail?.recordRefusal(error)
    throw error
  }
  if (reply instanceof JsonText) sendJson(ctx, route.status, reply.text)
  else if (reply instanceof StreamedResponse && auth.enabled) {
    const again = async () =>
      authorize(route.access, {
        ...asked,
        caller: await authenticateRequest(route.access, ctx, services),
      })
    const beatMs = services.settings.workers.heartbeat_interval * 1_000
    const stop = recheckAccess(again, beatMs, (refusal) => ctx.abort(refusal))
    await reply.write(ctx).finally(stop)
  } else if (reply instanceof StreamedResponse) await reply.write(ctx)
  else sendJson(ctx, route.status, JSON.stringify(reply))
}

type Input = RequestInput & { services: Services }

function sendRefusal(route: Route, ctx: RequestContext, error: unknown, log: Logger): void {
  // A client that left is nobody's fault.
  if (ctx.isClosed) return
  if (!faultOf(error))
    log.error({ err: error, request_id: ctx.id, route: route.path }, 'unexpected error')
  if (ctx.res.headersSent) ctx.res.destroy()
  else if (!route.refuse?.(error, ctx)) sendFault(ctx, error)
}
