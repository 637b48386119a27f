import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import { NO_PERMISSIONS } from '@windlass/domain/permissions'
import { Fault, invalid } from '@windlass/runtime/faults'
import { exactClientAddress } from '@windlass/runtime/http/client-address'
import type { Caches } from '../cache/create-caches.ts'
import { countHeader, type RequestContext } from '../http/request-context.ts'
import type { AuthenticateToken } from './api-key.ts'
import { type Caller, UNCHECKED_CALLER } from './caller.ts'
import { type CookieDeps, credentialOfCookie } from './console-cookie.ts'
import type { ConsoleIdentities } from './console-identity.ts'
import { authenticateExecutionToken, type ExecutionTokenDeps } from './execution-token.ts'

/**
 * Returns the Authorization header. If there are two, Node takes the first and other servers the last, so
 * such a request is refused.
 */
export function authorizationOf({ req, headers }: RequestContext): string | undefined {
  if (countHeader(req.rawHeaders, 'authorization') > 1)
    throw invalid('Duplicate Authorization header')
  return headers.authorization
}

/** The scheme is case-insensitive (RFC 9110, 11.1). */
const BEARER = /^bearer +(\S.*)$/i

/**
 * Returns the bearer token, undefined without a header. Any other scheme is refused, even while
 * authentication is off.
 */
export function bearerOf(ctx: RequestContext): string | undefined {
  const authorization = authorizationOf(ctx)
  if (authorization === undefined) return undefined
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined)
    throw new Fault('unauthenticated', "Unsupported authorization scheme. Use 'Bearer <token>'.")
  return token
}

const SESSION_TOKEN = /^ws_[0-9a-f]{16}\.[A-Za-z0-9_-]{43}$/

const isSessionToken = (token: string): boolean => SESSION_TOKEN.test(token)

/** A worker is authenticated on every route, and has rights only on those that accept session tokens. */
async function workerOf({ getSession }: AuthenticateDeps, token: string): Promise<Caller> {
  const session = await getSession(token)
  return { subject: session.worker_name, permissions: NO_PERMISSIONS, session }
}

export interface AuthenticateDeps extends ExecutionTokenDeps, CookieDeps {
  getSession: Caches['getSession']
  executionTokens: ExecutionTokens
  authenticateToken: AuthenticateToken
  consoleIdentities: ConsoleIdentities
  getAccount: Caches['getAccount']
}

/**
 * Authenticates one request; nothing is kept between requests. While authentication is off, every caller is
 * anonymous. An execution token grants nothing on routes that do not accept it.
 */
export async function authenticate(
  ctx: RequestContext,
  deps: AuthenticateDeps,
  { takesExecutions = false } = {},
): Promise<Caller> {
  const { settings, executionTokens, authenticateToken } = deps
  const fromCookie = settings.security.auth.enabled && (await credentialOfCookie(ctx, deps))
  if (fromCookie && deps.consoleIdentities.isOne(fromCookie))
    return deps.consoleIdentities.authenticate(fromCookie, deps.getAccount)
  const token = fromCookie || bearerOf(ctx)
  const claims = token === undefined ? undefined : executionTokens.verify(token)
  if (claims && takesExecutions) return authenticateExecutionToken(deps, claims)
  if (!settings.security.auth.enabled) return UNCHECKED_CALLER
  if (token === undefined) throw new Fault('unauthenticated', 'Authorization token required')
  if (!claims)
    return isSessionToken(token)
      ? workerOf(deps, token)
      : authenticateToken(token, exactClientAddress(ctx.req, settings.server.trusted_proxies))
  const { sub: subject, principal_issuer: issuer } = claims
  return { subject, issuer, permissions: NO_PERMISSIONS, execution: claims }
}
