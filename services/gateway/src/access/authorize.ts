import { Fault } from '@windlass/runtime/faults'
import type { Services } from '../clients/connect.ts'
import type { Exchange } from '../http/request-context.ts'
import { authenticate } from './authenticate.ts'
import { ANONYMOUS, type Caller, demand } from './caller.ts'
import type { Asked } from './rule.ts'
import { ruleOf } from './rules.ts'

/** Who holds the bootstrap token is nobody else. */
const BOOTSTRAP: Caller = { subject: 'bootstrap-token' }

/** Who is asking, as far as the route wants to know before it looks at the request. */
export async function identify(access: string, x: Exchange, services: Services): Promise<Caller> {
  if (access === 'bootstrap') return BOOTSTRAP
  const rule = ruleOf(access)
  if (access === 'public' || rule?.for === 'machines') return ANONYMOUS
  return authenticate(x, services, { takesExecutions: rule?.takesExecutions !== undefined })
}

/** Lets a request in, or throws why not. Answers what a rule has looked up. */
export async function admit(
  access: string,
  asked: Asked<Record<string, string>>,
): Promise<unknown> {
  if (access === 'public') return undefined
  const rule = ruleOf(access)
  if (asked.caller.execution && !rule?.takesExecutions && (rule || access === 'authenticated'))
    throw new Fault('forbidden', 'Permission denied: an execution token does not serve here')
  if (access === 'authenticated') return undefined
  if (rule) return rule.admit(asked as Asked<never>)
  demand(
    asked.caller,
    access.replace(/{(\w+)}/g, (_, name: string) => asked.params[name] ?? ''),
  )
  return undefined
}
