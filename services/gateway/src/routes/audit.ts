import { OUTCOMES } from '@windlass/domain/audit'
import type { AuditEntry } from '@windlass/proto/windlass/identity/v1/audit'
import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import type { Clients } from '../clients/connect.ts'
import { JsonText } from '../domain/views.ts'
import { integer, page, text, time } from '../route/fields.ts'
import { route } from '../route/route.ts'

type Deps = Pick<Clients, 'audit'>

const hex = (bytes: Buffer) => bytes.toString('hex')
const Hash = z.string().regex(/^[0-9a-f]{64}$/)

const EntryView = z
  .object({
    seq: z.int(),
    at: z.iso.datetime(),
    actor: z.object({ subject: z.string(), issuer: z.string(), key_prefix: z.string() }),
    request_id: z.string(),
    action: z.string(),
    object: z.string(),
    outcome: z.enum(OUTCOMES),
    detail: z.record(z.string(), z.unknown()),
    previous_hash: Hash,
    hash: Hash,
  })
  .meta({ id: 'AuditEntry' })

/** Splices the detail exactly as it was hashed. */
function viewOf({ seq, at, draft, previous_hash, hash }: AuditEntry): string {
  const { by, action = '', object = '', outcome = '', detail_json = '{}' } = draft ?? {}
  const { subject = '', issuer = '', key_prefix = '', request_id = '' } = by ?? {}
  const members = {
    seq: String(seq),
    at: quote(at?.toISOString() ?? ''),
    actor: JSON.stringify({ subject, issuer, key_prefix }),
    request_id: quote(request_id),
    action: quote(action),
    object: quote(object),
    outcome: quote(outcome),
    detail: detail_json,
    previous_hash: quote(hex(previous_hash)),
    hash: quote(hex(hash)),
  }
  return `{${Object.entries(members).map(([name, json]) => `"${name}":${json}`)}}`
}

const filter = text(1_024).default('')

export const listAudit = route('get', '/admin/audit', {
  summary: 'List audit entries, newest first; with after=N oldest first, from the entry after N',
  access: 'admin:audit:read',
  query: {
    actor: filter,
    /** A whole action, or the part before the dot. */
    action: filter,
    object: filter,
    outcome: z.enum(['', ...OUTCOMES]).default(''),
    since: time,
    until: time,
    after: integer({ min: 0 }).optional(),
    ...page,
  },
  returns: z
    .object({
      entries: z.array(EntryView),
      total: z.int(),
      limit: z.int(),
      offset: z.int(),
      head: z.object({ seq: z.int(), hash: Hash }),
    })
    .meta({ id: 'AuditList' }),
  async handle({ query }, { audit }: Deps) {
    const { entries, total, head_seq, head_hash } = await audit.list({
      since: undefined,
      until: undefined,
      ...query,
    })
    const { limit, offset } = query
    const head = JSON.stringify({ seq: head_seq, hash: hex(head_hash) })
    return new JsonText(
      `{"entries":[${entries.map(viewOf)}],"total":${total},"limit":${limit},"offset":${offset}` +
        `,"head":${head}}`,
    )
  },
})
