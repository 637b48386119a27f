import type { IncomingMessage } from 'node:http'
import { Fault } from '@windlass/runtime/faults'
import express, { type NextFunction, type Request, type Response } from 'express'
import type { Route } from '../route/route.ts'
import { handleRequest, type ServerContext } from './handle.ts'
import type { RequestContext } from './request-context.ts'
import { logRequest } from './request-log.ts'
import { sendFault, sendJson } from './response.ts'

/**
 * Everything but the hot routes, and what is no route at all: 404 for a path that nobody declared,
 * 405 for a method, HEAD included, since a HEAD must not run what a GET does.
 */
export function createRouter(
  routes: readonly Route[],
  serving: ServerContext,
): (ctx: RequestContext) => void {
  const app = express()
  app.set('case sensitive routing', true)
  app.set('strict routing', true)
  app.set('x-powered-by', false)
  app.set('etag', false)
  app.set('query parser', false)

  const exchanges = new WeakMap<IncomingMessage, RequestContext>()
  const exchangeOf = (req: Request) => exchanges.get(req) as RequestContext

  const closing: (() => void)[] = []
  for (const [path, methods] of byPath(routes)) {
    const allow = methods.map(({ method }) => method.toUpperCase()).join(', ')
    const pattern = patternOf(path, methods)
    const notAllowed = (req: Request) => {
      const ctx = exchangeOf(req)
      ctx.responseHeaders.push('allow', allow)
      sendJson(ctx, 405, '{"detail":"Method Not Allowed"}')
      logRequest(serving, ctx)
    }
    app.head(pattern, notAllowed)
    app.options(pattern, (_req, res) => {
      res.writeHead(204, { allow }).end()
    })
    for (const route of methods.filter(({ raw }) => !raw))
      app[route.method](pattern, (req: Request) =>
        handleRequest(route, exchangeOf(req), joined(req.params), serving),
      )
    closing.push(() => app.all(pattern, notAllowed))
  }
  // Last of all: `GET /admin/secrets/batch` is a secret of that name, though the path takes a POST.
  for (const close of closing) close()
  const refuse = (error: unknown, req: Request) => {
    const ctx = exchangeOf(req)
    sendFault(ctx, error)
    logRequest(serving, ctx)
  }
  app.use((req: Request) => refuse(new Fault('not_found', 'Not Found'), req))
  app.use((error: unknown, req: Request, _res: Response, _next: NextFunction) => refuse(error, req))
  return (ctx) => {
    exchanges.set(ctx.req, ctx)
    // Express would route a whole URL by its path, past whatever guards paths in front of us.
    if (ctx.path.startsWith('/')) app(ctx.req, ctx.res)
    else refuse(new Fault('not_found', 'Not Found'), ctx.req as Request)
  }
}

/** As Express has it: `:name` for a segment, `*name` for as many as there are. */
function patternOf(path: string, [route]: readonly Route[]): string {
  return path.replace(
    /{(\w+)}/g,
    (_, name: string) => (route?.params[name]?.spans ? '*' : ':') + name,
  )
}

const joined = (params: Record<string, string | string[]>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.join('/'),
    ]),
  )

/** Literal segments come before parameters, as in `/workers/register` and `/workers/{name}`; what goes on comes before what could span it. */
function byPath(routes: readonly Route[]): [string, Route[]][] {
  const paths = new Map<string, Route[]>()
  for (const route of routes) paths.set(route.path, [...(paths.get(route.path) ?? []), route])
  const rank = (path: string) => `${path.replaceAll('{', '~')}\x7f`
  return [...paths].sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1))
}
