import { isIPv4 } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Settings } from '@windlass/runtime/config/settings'
import { invalid } from '@windlass/runtime/faults'
import type { RequestContext } from '../http/request-context.ts'
import { type ConsoleSessions, idOf } from './console-session.ts'

export interface CookieDeps {
  settings: Settings
  consoleSessions: ConsoleSessions
}

/** Set by the console on each request; pages of other sites cannot set it. */
const HEADER = 'x-windlass-console'
const SECURE_NAME = '__Host-windlass'
/** Browsers refuse that prefix without TLS; then only loopback may sign in. */
const PLAIN_NAME = 'windlass'
const PORT = /:\d+$/

/** True if browsers reach this server over TLS: its own, or that of the proxy that `public_url` names. */
const isSecure = ({ req }: RequestContext, { server }: Settings): boolean =>
  (req.socket as Partial<TLSSocket>).encrypted === true ||
  (server.public_url?.toLowerCase().startsWith('https:') ?? false)

/**
 * Browsers send a cookie to every port of a host. With the port in its name, systems on one machine do not replace each
 * other's sessions.
 */
const nameOf = (ctx: RequestContext, settings: Settings) =>
  isSecure(ctx, settings) ? SECURE_NAME : PLAIN_NAME + portOf(ctx).replace(':', '-')

const portOf = ({ headers }: RequestContext) => PORT.exec(headers.host ?? '')?.[0] ?? ''

const flowNameOf = (ctx: RequestContext, settings: Settings) => `${nameOf(ctx, settings)}-oidc`

/** Returns the value of the cookie; undefined if there is none, or two, of which one is not ours. */
const cookieOf = (ctx: RequestContext, settings: Settings): string | undefined =>
  cookieNamed(ctx, nameOf(ctx, settings))

/** The cookie of a sign-in that has begun at an OIDC issuer. */
export const flowCookieOf = (ctx: RequestContext, settings: Settings): string | undefined =>
  cookieNamed(ctx, flowNameOf(ctx, settings))

function cookieNamed(ctx: RequestContext, name: string): string | undefined {
  const start = `${name}=`
  const pairs = (ctx.headers.cookie ?? '').split(';').map((pair) => pair.trim())
  const found = pairs.filter((pair) => pair.startsWith(start))
  return found.length === 1 ? found[0]?.slice(start.length) : undefined
}

/** True for a request that the console itself sent: the guard of the server has refused other origins. */
export const isOfConsole = ({ headers }: RequestContext): boolean =>
  headers[HEADER] !== undefined &&
  (headers['sec-fetch-site'] === 'same-origin' || headers.origin !== undefined)

/**
 * Returns the credential of the session that the cookie names; undefined if there is none, or if the
 * request was not sent by the console. A request that also has `Authorization` is refused, because it is
 * unknown which of the two callers it means.
 */
export async function credentialOfCookie(
  ctx: RequestContext,
  { settings, consoleSessions }: CookieDeps,
): Promise<string | undefined> {
  const token = cookieOf(ctx, settings)
  if (token === undefined) return undefined
  if (ctx.headers.authorization !== undefined)
    throw invalid('Send the cookie of a session or Authorization, not both')
  return isOfConsole(ctx) ? consoleSessions.credentialOf(token) : undefined
}

/** Refuses a sign-in whose cookie would be sent unencrypted. */
export function requireSafeCookie(ctx: RequestContext, settings: Settings): void {
  if (isSecure(ctx, settings)) return
  const name = (ctx.headers.host ?? '').replace(PORT, '')
  const isLoopback =
    name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'))
  if (!isLoopback)
    throw invalid(
      'Sign in by HTTPS: set [svc.server].tls_cert, or public_url to the https:// address of the proxy',
    )
}

/** Id of the session whose cookie a request carries; it may belong to another principal. */
export function sessionIdOf(ctx: RequestContext, settings: Settings): string | undefined {
  const token = cookieOf(ctx, settings)
  return token === undefined ? undefined : idOf(token)
}

/** Header that stores the token of a new session, for at most `maxAgeMs`. */
export function setCookie(
  ctx: RequestContext,
  settings: Settings,
  token: string,
  maxAgeMs: number,
): void {
  const name = nameOf(ctx, settings)
  store(ctx, settings, { name, value: token, maxAgeMs, sameSite: 'Strict' })
  ctx.responseHeaders.push('cache-control', 'no-store')
}

/** Header that stores the cookie of a flow; `Lax`, because the callback is a navigation from another site. */
export function setFlowCookie(
  ctx: RequestContext,
  settings: Settings,
  value: string,
  maxAgeMs: number,
): void {
  store(ctx, settings, { name: flowNameOf(ctx, settings), value, maxAgeMs, sameSite: 'Lax' })
}

interface Cookie {
  name: string
  value: string
  maxAgeMs: number
  sameSite: 'Strict' | 'Lax'
}

function store(
  ctx: RequestContext,
  settings: Settings,
  { name, value, maxAgeMs, sameSite }: Cookie,
): void {
  const secure = isSecure(ctx, settings) ? '; Secure' : ''
  const age = Math.floor(maxAgeMs / 1_000)
  const cookie = `${name}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=${sameSite}${secure}`
  ctx.responseHeaders.push('set-cookie', cookie)
}

/**
 * Returns the address of a path below `/` as browsers see this server: by `public_url`, else by the
 * request.
 */
export function publicAddress(ctx: RequestContext, settings: Settings, path: string): string {
  const { public_url } = settings.server
  const scheme = isSecure(ctx, settings) ? 'https' : 'http'
  const base = public_url ?? `${scheme}://${ctx.headers.host}`
  return new URL(path, base.endsWith('/') ? base : `${base}/`).href
}

/**
 * Ends the session that the cookie of a request names: at a sign-out, and before another session replaces
 * it.
 */
export async function endNamedSession(
  ctx: RequestContext,
  { settings, consoleSessions }: CookieDeps,
): Promise<void> {
  const token = cookieOf(ctx, settings)
  if (token !== undefined) await consoleSessions.close(token)
}

/** Ends the session that the cookie of a request names, and removes the cookie. */
export async function endSession(ctx: RequestContext, deps: CookieDeps): Promise<void> {
  await endNamedSession(ctx, deps)
  setCookie(ctx, deps.settings, '', 0)
}
