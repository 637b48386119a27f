import type { IncomingMessage } from 'node:http'
import { Fault, invalid } from '@windlass/runtime/faults'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import type { Route } from '../route/route.ts'
import { handleRequest, type ServerContext } from './handle.ts'
import type { RequestContext } from './request-context.ts'
import { logRequest } from './request-log.ts'
import { sendFault, sendJson } from './response.ts'

/**
 * Routes requests to the declared routes. This is the only place where routes are mounted.
 *
 * One declaration, two mechanisms: the hot paths (`raw: true`), which are called for every execution
 * and every ping, are matched by segments before Express (Matcher); all other requests go
 * to Express, which also answers 404 for undeclared paths and 405 for undeclared methods. Both end
 * in `handleRequest`, so authorization, audit and log do not depend on the mechanism
 * (ADR 5).
 */
export function createRouter<Deps>(
  routes: readonly Route<Deps>[],
  context: ServerContext<Deps>,
): (ctx: RequestContext) => void {
  const hot = new Matcher(routes.filter(({ raw }) => raw))
  const fallback = createExpressRouter(routes, context)
  return (ctx) => {
    const match = hot.find(ctx.req.method ?? '', ctx.path)
    if (match) void handleRequest(match.route, ctx, match.params, context)
    else fallback(ctx)
  }
}

function createExpressRouter<Deps>(
  routes: readonly Route<Deps>[],
  context: ServerContext<Deps>,
): (ctx: RequestContext) => void {
  const app = express()
  app.set('case sensitive routing', true)
  app.set('strict routing', true)
  app.set('x-powered-by', false)
  app.set('etag', false)
  app.set('query parser', false)

  const contexts = new WeakMap<IncomingMessage, RequestContext>()
  const contextOf = (req: Request) => contexts.get(req) as RequestContext

  const mount = (mounted: readonly Route<Deps>[]) =>
    mountRoutes(app, mounted, { context, contextOf })
  mount(routes.filter(({ isPage }) => !isPage))
  // Mounted after the API: one handler serves all addresses below `/console/`, except `/console/session`.
  mount(routes.filter(({ isPage }) => isPage))
  const refuse = (error: unknown, req: Request) => {
    const ctx = contextOf(req)
    sendFault(ctx, error)
    logRequest(context, ctx)
  }
  app.use((req: Request) => refuse(new Fault('not_found', 'Not Found'), req))
  app.use((error: unknown, req: Request, _res: Response, _next: NextFunction) => refuse(error, req))
  return (ctx) => {
    contexts.set(ctx.req, ctx)
    // Express would route an absolute URL by its path and thus bypass a proxy that guards paths.
    if (ctx.path.startsWith('/')) app(ctx.req, ctx.res)
    else refuse(new Fault('not_found', 'Not Found'), ctx.req as Request)
  }
}

interface Mount<Deps> {
  context: ServerContext<Deps>
  contextOf: (req: Request) => RequestContext
}

/**
 * Mounts the handlers of `routes`, then the answer 405 for their other methods. 405 includes HEAD: a HEAD
 * must not run a GET handler.
 */
function mountRoutes<Deps>(
  app: Express,
  routes: readonly Route<Deps>[],
  { context, contextOf }: Mount<Deps>,
): void {
  const mountNotAllowed: (() => void)[] = []
  for (const [path, methods] of byPath(routes)) {
    const allow = methods.map(({ method }) => method.toUpperCase()).join(', ')
    const pattern = patternOf(path, methods)
    const notAllowed = (req: Request) => {
      const ctx = contextOf(req)
      ctx.responseHeaders.push('allow', allow)
      sendJson(ctx, 405, '{"detail":"Method Not Allowed"}')
      logRequest(context, ctx)
    }
    app.head(pattern, notAllowed)
    app.options(pattern, (req, res) => {
      const ctx = contextOf(req)
      res.writeHead(204, { allow, 'x-request-id': ctx.id }).end()
      logRequest(context, ctx)
    })
    for (const route of methods.filter(({ raw }) => !raw))
      app[route.method](pattern, (req: Request) =>
        handleRequest(route, contextOf(req), joinSegments(req.params), context),
      )
    mountNotAllowed.push(() => app.all(pattern, notAllowed))
  }
  // Mounted last: a GET of `/admin/secrets/batch` reads a secret with that name, though that path accepts a
  // POST.
  for (const each of mountNotAllowed) each()
}

/** Converts to the syntax of Express: `:name` for a segment, `*name` for several. */
function patternOf(path: string, [route]: readonly Route[]): string {
  return path.replace(
    /{(\w+)}/g,
    (_, name: string) => (route?.params[name]?.spans ? '*' : ':') + name,
  )
}

const joinSegments = (params: Record<string, string | string[]>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.join('/'),
    ]),
  )

/**
 * Literal segments come before parameters, as in `/workers/register` and `/workers/{name}`; longer
 * paths come before a parameter that could span them.
 */
function byPath<Deps>(routes: readonly Route<Deps>[]): [string, Route<Deps>[]][] {
  const paths = new Map<string, Route<Deps>[]>()
  for (const route of routes) paths.set(route.path, [...(paths.get(route.path) ?? []), route])
  const rank = (path: string) => `${path.replaceAll('{', '~')}\x7f`
  return [...paths].sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1))
}

interface Pattern<Deps> {
  route: Route<Deps>
  /** A literal segment, or undefined for a parameter. */
  literals: (string | undefined)[]
  names: string[]
}

interface Match<Deps> {
  route: Route<Deps>
  /** Decoded from the path. */
  params: Record<string, string>
}

/** Finds a route by method and path: exact, case-sensitive, without extra slashes. */
class Matcher<Deps> {
  readonly #patterns = new Map<string, Pattern<Deps>[]>()

  constructor(routes: Iterable<Route<Deps>>) {
    for (const route of routes) {
      const segments = route.path.split('/')
      const literals = segments.map((part) => (part.startsWith('{') ? undefined : part))
      const names = segments.map((part) => part.slice(1, -1))
      const key = keyOf(route.method.toUpperCase(), segments.length)
      this.#patterns.set(key, [...(this.#patterns.get(key) ?? []), { route, literals, names }])
    }
  }

  find(method: string, path: string): Match<Deps> | undefined {
    const segments = path.split('/')
    const patterns = this.#patterns.get(keyOf(method, segments.length))
    for (const { route, literals, names } of patterns ?? []) {
      if (!literals.every((literal, i) => literal === undefined || literal === segments[i]))
        continue
      const params: Record<string, string> = {}
      for (let i = 0; i < segments.length; i++)
        if (literals[i] === undefined) params[names[i] ?? ''] = decode(segments[i] ?? '')
      return { route, params }
    }
    return undefined
  }
}

const keyOf = (method: string, segments: number) => `${method} ${segments}`

function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw invalid('Malformed path')
  }
}
