import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import { Fault, invalid } from '@windlass/runtime/faults'
import { countHeader, type RequestContext } from '../http/request-context.ts'
import type { AuthenticateToken } from './api-key.ts'
import { ANONYMOUS, type Caller } from './caller.ts'
import { authenticateExecutionToken, type ExecutionTokenDeps } from './execution-token.ts'

/** The header that says who is asking. Of two of them Node would take the first and others the last, so both are refused. */
export function authorizationOf({ req, headers }: RequestContext): string | undefined {
  if (countHeader(req.rawHeaders, 'authorization') > 1)
    throw invalid('Duplicate Authorization header')
  return headers.authorization
}

/** The bearer token of a request, undefined without a header. Any other scheme is refused, authentication on or off. */
export function bearerOf(ctx: RequestContext): string | undefined {
  const authorization = authorizationOf(ctx)
  if (authorization === undefined) return undefined
  const token = authorization.startsWith('Bearer ') ? authorization.slice(7).trim() : ''
  if (token === '')
    throw new Fault('unauthenticated', "Unsupported authorization scheme. Use 'Bearer <token>'.")
  return token
}

export interface AuthenticateDeps extends ExecutionTokenDeps {
  executionTokens: ExecutionTokens
  authenticateToken: AuthenticateToken
}

/** Who is asking. Every request is looked at anew; while authentication is off nobody is told apart. An execution token gives no rights where it is not taken. */
export async function authenticate(
  ctx: RequestContext,
  deps: AuthenticateDeps,
  { takesExecutions = false } = {},
): Promise<Caller> {
  const { settings, executionTokens, authenticateToken } = deps
  const token = bearerOf(ctx)
  const claims = token === undefined ? undefined : executionTokens.verify(token)
  if (claims && takesExecutions) return authenticateExecutionToken(deps, claims)
  if (!settings.security.auth.enabled) return ANONYMOUS
  if (token === undefined) throw new Fault('unauthenticated', 'Authorization token required')
  if (!claims) return authenticateToken(token)
  const { sub: subject, principal_issuer: issuer } = claims
  return { subject, issuer, permissions: [], execution: claims }
}
