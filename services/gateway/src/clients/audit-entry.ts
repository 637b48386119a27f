import type { Caller } from '@windlass/domain/caller'
import type { AuditRecord } from '@windlass/proto/windlass/identity/v1/audit'

/** An entry to record, with its caller. */
export interface AuditEntry extends Omit<AuditRecord, 'caller'> {
  caller: Caller
}
