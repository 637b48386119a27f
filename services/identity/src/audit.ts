import { type Action, detailOf } from '@windlass/domain/audit'
import { type Caller, INTERNAL_ISSUER, toRecordedCaller } from '@windlass/domain/caller'
import { type Call, callerOf } from '@windlass/rpc/call'
import type { Tx } from '@windlass/runtime/postgres/db'
import { append } from './store/audit.ts'

interface Deed {
  action: Action
  object: string
  detail?: Record<string, unknown>
}

/** Who asked for a change, and with which request. */
export interface Origin {
  caller: Caller
  request_id: string
}

export const originOf = (call: Call): Origin => ({
  caller: callerOf(call),
  request_id: call.requestId,
})

/** Who acts where nobody asked, by a name of ours. */
export const itself = (subject: string): Origin => ({
  caller: { subject, issuer: INTERNAL_ISSUER },
  request_id: '',
})

/** An origin as the audit log names it. */
export const actorOf = ({ caller, request_id }: Origin) => ({
  ...toRecordedCaller(caller),
  key_prefix: caller.key_prefix ?? '',
  request_id,
})

/** Records a change of our own in the commit that makes it: last of all, since others who record wait for it. */
export const record = (tx: Tx, by: Origin, { action, object, detail }: Deed) =>
  append(tx, [{ by: actorOf(by), action, object, outcome: 'done', detail_json: detailOf(detail) }])
