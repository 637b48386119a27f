import { createWebRequestGuard } from '@windlass/runtime/web-requests'
import type { RequestHandler, Response } from 'express'

export interface WebAddress {
  /** The address that the server binds. */
  host: string
  allowedHosts: readonly string[]
  publicUrl?: string | undefined
}

/** Refuses requests from web pages of other sites, as the gateway does. */
export function refuseWebRequests(address: WebAddress): RequestHandler {
  const guard = createWebRequestGuard({
    ...address,
    allowedHostsSetting: '[svc.mcp].allowed_hosts',
  })
  return (req, res, next) => {
    const message = guard(req.headers)
    if (message === undefined) return next()
    res.status(403).json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null })
  }
}

/**
 * Refuses two Authorization headers, as the API does: this service would forward the first, while another
 * HTTP server may use the last.
 */
export const refuseDuplicateCredentials: RequestHandler = ({ rawHeaders }, res, next) => {
  const names = rawHeaders.filter((_, i) => i % 2 === 0)
  if (names.filter((name) => name.toLowerCase() === 'authorization').length < 2) return next()
  const error = { code: -32_000, message: 'Duplicate Authorization header' }
  res.status(400).json({ jsonrpc: '2.0', error, id: null })
}

/**
 * Keeps `Cache-Control: no-store` on event streams: when the transport writes the headers, it passes a
 * value of its own, which permits storing.
 */
export const forbidStoring: RequestHandler = (_req, res, next) => {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => Response
  const withoutCacheControl = (...args: unknown[]) => {
    const headers = args.at(-1)
    if (typeof headers === 'object' && headers !== null && !Array.isArray(headers))
      for (const name of Object.keys(headers))
        if (name.toLowerCase() === 'cache-control') Reflect.deleteProperty(headers, name)
    return writeHead(...args)
  }
  res.writeHead = withoutCacheControl as typeof res.writeHead
  next()
}
