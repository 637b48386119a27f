import type { Logger } from '@windlass/runtime/process/log'
import { admit, identify } from '../access/authorize.ts'
import { watchAccess } from '../access/stream-recheck.ts'
import type { Services } from '../clients/connect.ts'
import { JsonText } from '../domain/views.ts'
import { type AnyInput, Trail } from '../route/audit-trail.ts'
import type { BodyLimits } from '../route/body.ts'
import { Written } from '../route/reply.ts'
import type { Route } from '../route/route.ts'
import type { Exchange } from './request-context.ts'
import { logRequest } from './request-log.ts'
import { faultOf, sendFault, sendJson } from './response.ts'

export interface Serving {
  services: Services
  limits: BodyLimits
  log: Logger
  /** Takes the line of each request. */
  requests: Logger
  /** What is being answered just now. */
  open: Set<Exchange>
}

/** One request of a route, whoever routed it: who is asking, for what, may they, with which body; then the handler. */
export async function serve(
  route: Route,
  x: Exchange,
  raw: Record<string, string>,
  serving: Serving,
): Promise<void> {
  x.route = route.path
  serving.open.add(x)
  try {
    await answer(route, x, raw, serving)
  } catch (error) {
    refuse(route, x, error, serving.log)
  } finally {
    serving.open.delete(x)
    logRequest(serving, x)
  }
}

async function answer(
  route: Route,
  x: Exchange,
  raw: Record<string, string>,
  { services, limits }: Serving,
): Promise<void> {
  const { auth } = services.settings.security
  const caller = await identify(route.access, x, services)
  const params: Record<string, string> = {}
  for (const name in route.params)
    params[name] = route.params[name]?.read(raw[name] ?? '') as string
  const query = route.readQuery(x.search) as { version?: number }
  let taken: Promise<unknown> | undefined
  const body = () => {
    taken ??= route.body.take(x, limits)
    return taken
  }
  const input = { params, query, body: undefined, caller, found: undefined, services, x } as Input
  const asked = { x, params, query, services, body }
  const { audited, access } = route
  const trail = audited && new Trail({ audited, access }, services.auditLog, input)
  let reply: unknown
  try {
    input.found = await admit(access, { ...asked, caller })
    trail?.admit()
    input.body = await body()
    await trail?.begin()
    reply = await route.handle(input)
    await trail?.end()
  } catch (error) {
    await trail?.refuse(error)
    throw error
  }
  if (reply instanceof JsonText) sendJson(x, route.status, reply.text)
  else if (reply instanceof Written && auth.enabled) {
    const again = async () =>
      admit(route.access, { ...asked, caller: await identify(route.access, x, services) })
    const beatMs = services.settings.workers.heartbeat_interval * 1_000
    const stop = watchAccess(again, beatMs, (refusal) => x.giveUp(refusal))
    await reply.write(x).finally(stop)
  } else if (reply instanceof Written) await reply.write(x)
  else sendJson(x, route.status, JSON.stringify(reply))
}

type Input = AnyInput & { services: Services }

function refuse(route: Route, x: Exchange, error: unknown, log: Logger): void {
  // A client that left is nobody's fault.
  if (x.isOver) return
  if (!faultOf(error))
    log.error({ err: error, request_id: x.id, route: route.path }, 'unexpected error')
  if (x.res.headersSent) x.res.destroy()
  else if (!route.refuse?.(error, x)) sendFault(x, error)
}
