import { Fault } from '@windlass/runtime/faults'
import type { Services } from '../clients/connect.ts'
import type { RequestContext } from '../http/request-context.ts'
import { authenticate } from './authenticate.ts'
import { ANONYMOUS, type Caller, requirePermission } from './caller.ts'
import type { AccessRequest } from './rule.ts'
import { ruleOf } from './rules.ts'

/** Who holds the bootstrap token is nobody else. */
const BOOTSTRAP: Caller = { subject: 'bootstrap-token' }

/** Who is asking, as far as the route wants to know before it looks at the request. */
export async function authenticateRequest(
  access: string,
  ctx: RequestContext,
  services: Services,
): Promise<Caller> {
  if (access === 'bootstrap') return BOOTSTRAP
  const rule = ruleOf(access)
  if (access === 'public' || rule?.for === 'machines') return ANONYMOUS
  return authenticate(ctx, services, {
    takesExecutions: rule?.acceptsExecutionTokens !== undefined,
  })
}

/** Lets a request in, or throws why not. Answers what a rule has looked up. */
export async function authorize(
  access: string,
  asked: AccessRequest<Record<string, string>>,
): Promise<unknown> {
  if (access === 'public') return undefined
  const rule = ruleOf(access)
  if (
    asked.caller.execution &&
    !rule?.acceptsExecutionTokens &&
    (rule || access === 'authenticated')
  )
    throw new Fault('forbidden', 'Permission denied: an execution token does not serve here')
  if (access === 'authenticated') return undefined
  if (rule) return rule.authorize(asked as AccessRequest<never>)
  requirePermission(
    asked.caller,
    access.replace(/{(\w+)}/g, (_, name: string) => asked.params[name] ?? ''),
  )
  return undefined
}
