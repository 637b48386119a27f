import { OUTCOMES } from '@windlass/domain/audit'
import { z } from 'zod'
import type { Clients } from '../clients/connect.ts'
import { JsonText } from '../domain/views.ts'
import { integer, page, text, time } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { EntryView, Hash, hex, viewOf } from './audit-views.ts'
import { AUDIT_HEAD } from './examples.ts'

type Deps = Pick<Clients, 'audit'>

const Head = z
  .object({ seq: z.int(), hash: Hash })
  .meta({ id: 'AuditHead', examples: [AUDIT_HEAD] })

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
      head: Head,
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

export const getAuditHead = route('get', '/admin/audit/head', {
  summary: 'Show number and hash of the newest audit entry, to note them elsewhere',
  access: 'admin:audit:read',
  returns: Head,
  async handle(_, { audit }: Deps) {
    const { head_seq: seq, head_hash } = await audit.list({
      ...{ actor: '', action: '', object: '', outcome: '', until: undefined },
      // Reads only the head: no entry has this time.
      ...{ since: new Date('9999-01-01T00:00:00Z'), limit: 1, offset: 0 },
    })
    return { seq, hash: hex(head_hash) }
  },
})
