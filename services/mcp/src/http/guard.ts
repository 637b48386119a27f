import type { RequestHandler } from 'express'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
const WILDCARDS = new Set(['0.0.0.0', '::', '[::]', ''])

/**
 * Refuses requests that a web page could send: a Host that is none of ours (a rebound name), or an
 * Origin that is none of ours. Bound to every address, only named hosts count, if any are named.
 */
export function guard(host: string, allowedHosts: readonly string[]): RequestHandler {
  const own = WILDCARDS.has(host) ? [] : [host.includes(':') ? `[${host}]` : host]
  const names = new Set([...LOOPBACK, ...own, ...allowedHosts].map((name) => name.toLowerCase()))
  const anyHost = WILDCARDS.has(host) && allowedHosts.length === 0
  const isOurs = (url: string) => names.has(hostnameOf(url) ?? '')
  return (req, res, next) => {
    const { host: target = '', origin } = req.headers
    const refused =
      (!anyHost && !isOurs(`http://${target}`) && 'Host') ||
      (origin !== undefined && !isOurs(origin) && 'Origin')
    if (!refused) return next()
    const error = { code: -32_000, message: `${refused} not allowed` }
    res.status(403).json({ jsonrpc: '2.0', error, id: null })
  }
}

/** Refuses two credentials, as the API does: of two headers we would pass on the first, and another reader would believe the last. */
export const oneCredential: RequestHandler = ({ rawHeaders }, res, next) => {
  const names = rawHeaders.filter((_, i) => i % 2 === 0)
  if (names.filter((name) => name.toLowerCase() === 'authorization').length < 2) return next()
  const error = { code: -32_000, message: 'Duplicate Authorization header' }
  res.status(400).json({ jsonrpc: '2.0', error, id: null })
}

function hostnameOf(url: string): string | undefined {
  try {
    return new URL(url).hostname
  } catch {
    return undefined
  }
}
