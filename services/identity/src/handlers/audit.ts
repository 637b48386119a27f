import type {
  AuditDraft,
  AuditEntry,
  AuditService,
} from '@windlass/proto/windlass/identity/v1/audit'
import { ACTIONS, OUTCOMES } from '@windlass/runtime/audit'
import type { Db } from '@windlass/runtime/db'
import { invalid } from '@windlass/runtime/faults'
import type { Handlers } from '@windlass/runtime/rpc'
import * as audit from '../store/audit.ts'

const MAX_PAGE = 1_000

export const auditHandlers = (db: Db): Handlers<typeof AuditService> => ({
  async record({ drafts }) {
    drafts.forEach(check)
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

function check({ by, action, outcome }: AuditDraft): void {
  if (!by?.subject) throw invalid('an entry needs an actor')
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
