import { ACTIONS, OUTCOMES } from '@windlass/domain/audit'
import {
  type AuditEntry,
  type AuditRecord,
  AuditService,
} from '@windlass/proto/windlass/identity/v1/audit'
import type { Handlers } from '@windlass/rpc/call'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { Fault, invalid } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import type { CheckpointKeys } from '../engine/checkpoint-keys.ts'
import { toAuditActor } from '../engine/record-change.ts'
import * as audit from '../store/audit.ts'
import * as checkpoints from '../store/audit-checkpoints.ts'

const MAX_PAGE = 1_000

export const auditHandlers = (
  db: Db,
  { verifyCaller }: Pick<ServiceIdentity, 'verifyCaller'>,
  keys: CheckpointKeys,
): Handlers<typeof AuditService> => ({
  async record({ records }, { service }) {
    const drafts = records.map(
      ({ caller: statement, request_id, ...record }): audit.AuditEntryDraft => {
        requireKnown(record)
        const caller = verifyCaller(statement, service, AuditService.record.path)
        if (!caller) throw new Fault('forbidden', 'an entry without a genuine statement')
        return { ...record, by: toAuditActor({ caller, request_id }) }
      },
    )
    if (drafts.length === 0) return { seqs: [] }
    return { seqs: await db.tx((tx) => audit.append(tx, drafts)) }
  },

  async list(request) {
    requirePage(request)
    // The head is read first: entries appended during the call are then not reported as missing.
    const head = await audit.readHead(db)
    const [rows, total, signed] = await Promise.all([
      audit.list(db, request),
      audit.count(db, request),
      checkpoints.count(db),
    ])
    return {
      ...{ entries: rows.map(toAuditEntry), total, head_seq: head.seq, head_hash: head.hash },
      checkpoints: signed,
    }
  },

  async listCheckpoints(request) {
    requirePage(request)
    const rows = await checkpoints.list(db, request)
    // Read after the checkpoints, so each of them has its key.
    const [total, listed] = await Promise.all([checkpoints.count(db), keys.list(db)])
    return { checkpoints: rows, total, keys: listed }
  },
})

function requirePage({ limit }: { limit: number }): void {
  if (limit < 1 || limit > MAX_PAGE) throw invalid(`limit must be 1 to ${MAX_PAGE}`)
}

function requireKnown({ action, outcome }: Pick<AuditRecord, 'action' | 'outcome'>): void {
  if (!(ACTIONS as readonly string[]).includes(action)) throw invalid(`unknown action '${action}'`)
  if (!(OUTCOMES as readonly string[]).includes(outcome))
    throw invalid(`unknown outcome '${outcome}'`)
}

function toAuditEntry({ seq, at, previous_hash, hash, ...row }: audit.AuditRow): AuditEntry {
  const { subject, issuer, key_prefix, request_id, ...draft } = row
  return {
    seq,
    at,
    draft: { ...draft, by: { subject, issuer, key_prefix, request_id } },
    previous_hash,
    hash,
  }
}
