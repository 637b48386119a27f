import { type Action, detailOf } from '@windlass/domain/audit'
import { type Caller, INTERNAL_ISSUER, toRecordedCaller } from '@windlass/domain/caller'
import { type Call, callerOf } from '@windlass/rpc/call'
import type { Tx } from '@windlass/runtime/postgres/db'
import { append } from '../store/audit.ts'

interface AuditedChange {
  action: Action
  object: string
  detail?: Record<string, unknown>
}

/** Caller of a change, and the id of its request. */
export interface Origin {
  caller: Caller
  request_id: string
  /** Empty for none. */
  client_address: string
}

export const originOf = (call: Call): Origin => ({
  caller: callerOf(call),
  request_id: call.requestId,
  client_address: call.clientAddress,
})

/** Origin of a change without a caller, named by the internal issuer. */
export const systemOrigin = (subject: string): Origin => ({
  caller: { subject, issuer: INTERNAL_ISSUER },
  request_id: '',
  client_address: '',
})

/** An origin in the form of audit entries. */
export const toAuditActor = ({ caller, request_id }: Pick<Origin, 'caller' | 'request_id'>) => ({
  ...toRecordedCaller(caller),
  key_prefix: caller.key_prefix ?? '',
  request_id,
})

/**
 * Records a change in its own transaction, as the last statement: other writers of the log wait for
 * the commit.
 */
export function recordChange(tx: Tx, by: Origin, { action, object, detail }: AuditedChange) {
  const { client_address } = by
  const detail_json = detailOf({ ...(client_address && { client_address }), ...detail })
  return append(tx, [{ by: toAuditActor(by), action, object, outcome: 'done', detail_json }])
}
