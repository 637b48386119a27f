import type { Origin } from '@windlass/proto/windlass/identity/v1/audit'
import type { Caller as Principal } from '@windlass/runtime/cluster'
import type { ExecutionClaims } from '@windlass/runtime/execution-tokens'
import { Fault } from '@windlass/runtime/faults'
import { permits } from '@windlass/runtime/permissions'
import type { Exchange } from '../http/exchange.ts'

/** Who is asking. Without `permissions` nothing is checked: authentication is off. */
export interface Caller {
  /** Empty for nobody in particular. */
  subject: string
  /** Where the subject is known by that name. */
  issuer?: string
  /** Of the API key that was shown. */
  key_prefix?: string
  roles?: readonly string[]
  permissions?: readonly string[]
  /** The execution in whose name a worker asks, with the token that it was given for it. */
  execution?: ExecutionClaims
}

/** Where principals come from that no other issuer vouches for. */
export const OWN_ISSUER = 'svc'

/** The caller as other services are told of him; undefined for nobody in particular. */
export const principalOf = ({ subject, issuer = OWN_ISSUER }: Caller): Principal | undefined =>
  subject === '' ? undefined : { subject, issuer }

export const ANONYMOUS: Caller = { subject: '' }

/** How a caller is written down; who is nobody in particular is anonymous. */
export const writtenAs = ({ subject, issuer = OWN_ISSUER }: Caller) => ({
  subject: subject || 'anonymous',
  issuer,
})

/** Whom the audit log names for a request. */
export const originOf = ({ id }: Pick<Exchange, 'id'>, caller: Caller): Origin => ({
  ...writtenAs(caller),
  key_prefix: caller.key_prefix ?? '',
  request_id: id,
})

export const may = ({ permissions }: Caller, needed: string): boolean =>
  permissions === undefined || permissions.some((granted) => permits(granted, needed))

/** Refuses a caller who lacks the permission, by its name. */
export function demand(caller: Caller, needed: string): void {
  if (!may(caller, needed)) throw refusal(needed)
}

export const refusal = (needed: string) =>
  new Fault('forbidden', `Permission denied: requires '${needed}'`)
