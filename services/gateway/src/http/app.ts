import type { IncomingMessage } from 'node:http'
import { Fault } from '@windlass/runtime/faults'
import express, { type NextFunction, type Request, type Response } from 'express'
import type { Route } from '../route.ts'
import { sendFault, sendJson } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { logRequest } from './request-log.ts'
import { type Serving, serve } from './serve.ts'

/**
 * Everything but the hot routes, and what is no route at all: 404 for a path that nobody declared,
 * 405 for a method, HEAD included, since a HEAD must not run what a GET does.
 */
export function createApp(routes: readonly Route[], serving: Serving): (x: Exchange) => void {
  const app = express()
  app.set('case sensitive routing', true)
  app.set('strict routing', true)
  app.set('x-powered-by', false)
  app.set('etag', false)
  app.set('query parser', false)

  const exchanges = new WeakMap<IncomingMessage, Exchange>()
  const exchangeOf = (req: Request) => exchanges.get(req) as Exchange

  for (const [path, methods] of byPath(routes)) {
    const allow = methods.map(({ method }) => method.toUpperCase()).join(', ')
    const pattern = path.replace(/{(\w+)}/g, ':$1')
    const notAllowed = (req: Request) => {
      const x = exchangeOf(req)
      x.answerHeaders.push('allow', allow)
      sendJson(x, 405, '{"detail":"Method Not Allowed"}')
      logRequest(serving, x)
    }
    app.head(pattern, notAllowed)
    app.options(pattern, (_req, res) => {
      res.writeHead(204, { allow }).end()
    })
    for (const route of methods.filter(({ raw }) => !raw))
      app[route.method](pattern, (req: Request) =>
        serve(route, exchangeOf(req), req.params as Record<string, string>, serving),
      )
    app.all(pattern, notAllowed)
  }
  const refuse = (error: unknown, req: Request) => {
    const x = exchangeOf(req)
    sendFault(x, error)
    logRequest(serving, x)
  }
  app.use((req: Request) => refuse(new Fault('not_found', 'Not Found'), req))
  app.use((error: unknown, req: Request, _res: Response, _next: NextFunction) => refuse(error, req))
  return (x) => {
    exchanges.set(x.req, x)
    app(x.req, x.res)
  }
}

/** Literal segments come before parameters, as in `/workers/register` and `/workers/{name}`. */
function byPath(routes: readonly Route[]): [string, Route[]][] {
  const paths = new Map<string, Route[]>()
  for (const route of routes) paths.set(route.path, [...(paths.get(route.path) ?? []), route])
  const rank = (path: string) => path.replaceAll('{', '~')
  return [...paths].sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1))
}
