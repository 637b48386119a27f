import type { Origin } from '@windlass/proto/windlass/identity/v1/audit'
import { type Action, detailOf } from '@windlass/runtime/audit'
import type { Tx } from '@windlass/runtime/db'
import { append } from './store/audit.ts'

interface Deed {
  action: Action
  object: string
  detail?: Record<string, unknown>
}

/** Who acts where nobody asked. */
const ITSELF: Origin = { subject: 'identity', issuer: 'svc', key_prefix: '', request_id: '' }

/** Records a change of our own in the commit that makes it: last of all, since others who record wait for it. */
export const record = (tx: Tx, by: Origin | undefined, { action, object, detail }: Deed) =>
  append(tx, [{ by: by ?? ITSELF, action, object, outcome: 'done', detail_json: detailOf(detail) }])
