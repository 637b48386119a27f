import { NO_PERMISSIONS } from '@windlass/domain/permissions'
import { Fault } from '@windlass/runtime/faults'
import type { RequestContext } from '../http/request-context.ts'
import { type AuthenticateDeps, authenticate } from './authenticate.ts'
import { type Caller, requirePermission, UNAUTHENTICATED_CALLER } from './caller.ts'
import type { AccessRequest } from './rule.ts'
import { type RuleDeps, ruleOf } from './rules.ts'

/** Dependencies of authenticating and authorizing any request. */
export type AccessDeps = AuthenticateDeps & RuleDeps

/** The holder of the bootstrap token has no other identity. */
const BOOTSTRAP: Caller = { subject: 'bootstrap-token', permissions: NO_PERMISSIONS }

/** Authenticates the caller as far as the route needs before authorization. */
export async function authenticateRequest(
  access: string,
  ctx: RequestContext,
  deps: AuthenticateDeps,
): Promise<Caller> {
  if (access === 'bootstrap') return BOOTSTRAP
  const rule = ruleOf(access)
  if (access === 'public' || rule?.for === 'machines') return UNAUTHENTICATED_CALLER
  return authenticate(ctx, deps, {
    takesExecutions: rule?.acceptsExecutionTokens !== undefined,
  })
}

/** Throws the refusal, or returns what the access rule resolved. */
export async function authorize(
  access: string,
  request: AccessRequest<Record<string, string>>,
  deps: AccessDeps,
): Promise<unknown> {
  if (access === 'public') return undefined
  const rule = ruleOf(access)
  if (
    request.caller.execution &&
    !rule?.acceptsExecutionTokens &&
    (rule || access === 'authenticated')
  )
    throw new Fault('forbidden', 'Permission denied: an execution token is not accepted here')
  if (request.caller.session && (rule || access === 'authenticated'))
    throw new Fault(
      'forbidden',
      'Permission denied: a session token of a worker is not accepted here',
    )
  if (access === 'authenticated') return undefined
  if (rule) return rule.authorize(request as AccessRequest<never>, deps)
  requirePermission(
    request.caller,
    access.replace(/{(\w+)}/g, (_, name: string) => request.params[name] ?? ''),
  )
  return undefined
}
