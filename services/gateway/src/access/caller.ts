import {
  ANONYMOUS_CALLER,
  INTERNAL_ISSUER,
  type Caller as Principal,
} from '@windlass/domain/caller'
import type { ExecutionClaims } from '@windlass/domain/execution-tokens'
import {
  ALL_PERMISSIONS,
  covers,
  NO_PERMISSIONS,
  type Permissions,
} from '@windlass/domain/permissions'
import type { CallOptions } from '@windlass/rpc/call'
import { Fault } from '@windlass/runtime/faults'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import type { RequestContext } from '../http/request-context.ts'

/** The authenticated caller. */
export interface Caller {
  /** Empty for an anonymous caller. */
  subject: string
  /** Issuer that assigned the subject. */
  issuer?: string
  /** Prefix of the API key, if one was used. */
  key_prefix?: string
  roles?: readonly string[]
  permissions: Permissions
  /** The execution on whose behalf a worker calls, from its execution token. */
  execution?: ExecutionClaims
  /** The session of a worker, from its session token. */
  session?: WorkerIdentity
}

/** Converts a caller to the principal that on-behalf-of tokens carry to other services. */
export const toPrincipal = ({
  subject,
  issuer = INTERNAL_ISSUER,
  key_prefix,
}: Caller): Principal =>
  subject === ''
    ? ANONYMOUS_CALLER
    : { subject, issuer, ...(key_prefix !== undefined && { key_prefix }) }

/** Every caller while authentication is off. */
export const UNCHECKED_CALLER: Caller = { subject: '', permissions: ALL_PERMISSIONS }

/** A caller without an identity of its own: nothing is granted before a rule has checked it. */
export const UNAUTHENTICATED_CALLER: Caller = { subject: '', permissions: NO_PERMISSIONS }

/** Call options of an rpc on behalf of the caller of a request. */
export const onBehalfOf = (
  {
    id,
    clientAddress,
    traceparent,
  }: Pick<RequestContext, 'id' | 'clientAddress'> & Partial<Pick<RequestContext, 'traceparent'>>,
  caller: Caller,
): Pick<CallOptions, 'caller' | 'requestId' | 'clientAddress' | 'traceparent'> => ({
  caller: toPrincipal(caller),
  requestId: id,
  traceparent,
  clientAddress,
})

export const hasPermission = ({ permissions }: Caller, needed: string): boolean =>
  covers(permissions, needed)

/** Throws a refusal that names the missing permission. */
export function requirePermission(caller: Caller, needed: string): void {
  if (!hasPermission(caller, needed)) throw permissionDenied(needed)
}

export const permissionDenied = (needed: string) =>
  new Fault('forbidden', `Permission denied: requires '${needed}'`)
