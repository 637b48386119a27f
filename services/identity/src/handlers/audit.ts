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
import { actorOf } from '../audit.ts'
import * as audit from '../store/audit.ts'

const MAX_PAGE = 1_000

export const auditHandlers = (
  db: Db,
  { verifyCaller }: Pick<ServiceIdentity, 'verifyCaller'>,
): Handlers<typeof AuditService> => ({
  async record({ records }, { service }) {
    const drafts = records.map(({ caller: statement, request_id, ...record }): audit.Draft => {
      check(record)
      const caller = verifyCaller(statement, service, AuditService.record.path)
      if (!caller) throw new Fault('forbidden', 'an entry without a genuine statement of who asked')
      return { ...record, by: actorOf({ caller, request_id }) }
    })
    if (drafts.length === 0) return { seqs: [] }
    return { seqs: await db.tx((tx) => audit.append(tx, drafts)) }
  },

  async list(request) {
    if (request.limit < 1 || request.limit > MAX_PAGE)
      throw invalid(`limit must be 1 to ${MAX_PAGE}`)
    // The head first: what is appended meanwhile is then not missed at the end.
    const head = await audit.head(db)
    const [rows, total] = await Promise.all([audit.list(db, request), audit.count(db, request)])
    return { entries: rows.map(entryOf), total, head_seq: head.seq, head_hash: head.hash }
  },
})

function check({ action, outcome }: Pick<AuditRecord, 'action' | 'outcome'>): void {
  if (!(ACTIONS as readonly string[]).includes(action)) throw invalid(`no action '${action}'`)
  if (!(OUTCOMES as readonly string[]).includes(outcome)) throw invalid(`no outcome '${outcome}'`)
}

function entryOf({ seq, at, previous_hash, hash, ...row }: audit.Row): AuditEntry {
  const { subject, issuer, key_prefix, request_id, ...draft } = row
  return {
    seq,
    at,
    draft: { ...draft, by: { subject, issuer, key_prefix, request_id } },
    previous_hash,
    hash,
  }
}
