import {
  ANONYMOUS_CALLER,
  INTERNAL_ISSUER,
  type Caller as Principal,
} from '@windlass/domain/caller'
import type { ExecutionClaims } from '@windlass/domain/execution-tokens'
import { permits } from '@windlass/domain/permissions'
import type { CallOptions } from '@windlass/rpc/call'
import { Fault } from '@windlass/runtime/faults'
import type { RequestContext } from '../http/request-context.ts'

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

/** The caller as other services are told of him, by a signed statement and in no other way. */
export const toPrincipal = ({
  subject,
  issuer = INTERNAL_ISSUER,
  key_prefix,
}: Caller): Principal =>
  subject === ''
    ? ANONYMOUS_CALLER
    : { subject, issuer, ...(key_prefix !== undefined && { key_prefix }) }

export const ANONYMOUS: Caller = { subject: '' }

/** With what an rpc is called on behalf of the caller of a request. */
export const onBehalfOf = (
  { id }: Pick<RequestContext, 'id'>,
  caller: Caller,
): Pick<CallOptions, 'caller' | 'requestId'> => ({ caller: toPrincipal(caller), requestId: id })

export const hasPermission = ({ permissions }: Caller, needed: string): boolean =>
  permissions === undefined || permissions.some((granted) => permits(granted, needed))

/** Refuses a caller who lacks the permission, by its name. */
export function requirePermission(caller: Caller, needed: string): void {
  if (!hasPermission(caller, needed)) throw permissionDenied(needed)
}

export const permissionDenied = (needed: string) =>
  new Fault('forbidden', `Permission denied: requires '${needed}'`)
