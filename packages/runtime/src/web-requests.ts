/**
 * Refuses HTTP requests that a web page of another origin sends or reads through a browser. One
 * implementation for every HTTP listener without a credential of its own (gateway, MCP).
 *
 * - CSRF: a page may send "simple" requests (forms, images, `fetch` with `no-cors`, WebSocket
 *   handshakes, navigations) to any address that the browser reaches, loopback included. The browser
 *   marks them: `Origin` and `Sec-Fetch-Site` cannot be set or removed by a page.
 * - DNS rebinding: a page of `http://evil.example` whose name now resolves to this server is
 *   same-origin for the browser. Only `Host` still shows the name, so an unknown host is refused.
 *   An IP literal cannot be rebound, because no name is resolved.
 *
 * Programs send neither `Origin` nor `Sec-Fetch-Site`; they pay one pattern and one set lookup.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'

interface WebRequestOptions {
  /** The address that the server binds. */
  host: string
  /** Further names, each with an optional port; without one every port is allowed. */
  allowedHosts: readonly string[]
  /** URL under which browsers reach the server, for example through a proxy that terminates TLS. */
  publicUrl?: string | undefined
  /** The setting that holds `allowedHosts`, for error messages. */
  allowedHostsSetting: string
}

/** Returns why a request is refused, or undefined. */
type WebRequestGuard = (headers: IncomingHttpHeaders) => string | undefined

/** A host name, an IPv4 address or an IPv6 address in brackets, with an optional port. */
const HOST_PATTERN = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/
const WILDCARDS = new Set(['0.0.0.0', '::', ''])
const MAX_SHOWN = 100

export function createWebRequestGuard(options: WebRequestOptions): WebRequestGuard {
  const { allowedHostsSetting, publicUrl } = options
  const isAllowedHost = hostRule(options)
  const isSameOrigin = originRule(publicUrl)
  return ({ host, origin, 'sec-fetch-site': site }) => {
    if (host !== undefined && !isAllowedHost(host.toLowerCase()))
      return `Host ${show(host)} is not allowed. Add it to ${allowedHostsSetting} if clients reach the server under this name.`
    if (origin !== undefined && !isSameOrigin(origin.toLowerCase(), host?.toLowerCase() ?? ''))
      return `Origin ${show(origin)} is not the origin of this server: requests of other web pages are refused. If browsers reach the server through a proxy, set [svc.server].public_url.`
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      return `Sec-Fetch-Site ${show(String(site))} is not allowed: requests of other web pages are refused. Enter the URL in the address bar or use a program that is not a browser.`
    return undefined
  }
}

/**
 * Allows loopback, the bound address, the host of the public URL and the configured hosts. A server
 * that binds every address can be reached under each of them, also behind address translation, so
 * it allows any IP literal.
 */
function hostRule({ host, allowedHosts, publicUrl }: WebRequestOptions) {
  const isWildcard = WILDCARDS.has(host)
  const own = isWildcard ? [] : [isIPv6(host) ? `[${host}]` : host]
  const published = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  const names = ['localhost', '[::1]', ...own, ...published, ...allowedHosts]
  const allowed = new Set(names.map((name) => name.toLowerCase()))
  return (given: string): boolean => {
    const name = HOST_PATTERN.exec(given)?.[1]
    if (name === undefined) return false
    if (allowed.has(name) || allowed.has(given)) return true
    if (name.startsWith('127.') && isIPv4(name)) return true
    return isWildcard && (isIPv4(name) || isIPv6(name.slice(1, -1)))
  }
}

/**
 * Compares scheme, host and port. The origin of the public URL is always the server's own. Any other
 * must be `http://` or `https://` and the request's `Host`, port included: the server does not see
 * whether a proxy terminated TLS. For the host of the public URL the scheme is known, so no other
 * origin is accepted there.
 */
function originRule(publicUrl: string | undefined) {
  const published = publicUrl === undefined ? undefined : new URL(publicUrl)
  return (origin: string, host: string): boolean => {
    if (origin === published?.origin) return true
    if (host === '' || host === published?.host) return false
    return origin === `http://${strip(host, ':80')}` || origin === `https://${strip(host, ':443')}`
  }
}

/** Removes a default port, which browsers leave out of an origin. */
const strip = (host: string, port: string) =>
  host.endsWith(port) ? host.slice(0, -port.length) : host

const show = (value: string) => JSON.stringify(value.slice(0, MAX_SHOWN))
