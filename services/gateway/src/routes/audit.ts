import { OUTCOMES } from '@windlass/domain/audit'
import { z } from 'zod'
import type { Clients } from '../clients/connect.ts'
import { JsonText } from '../domain/views.ts'
import { integer, page, text, time } from '../route/fields.ts'
import { route } from '../route/route.ts'
import {
  CheckpointView,
  checkpointView,
  EntryView,
  Hash,
  hex,
  KeyView,
  keyView,
  viewOf,
} from './audit-views.ts'
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
      /** Number of signed checkpoints. */
      checkpoints: z.int(),
    })
    .meta({ id: 'AuditList' }),
  async handle({ query }, { audit }: Deps) {
    const { entries, total, head_seq, head_hash, checkpoints } = await audit.list({
      since: undefined,
      until: undefined,
      ...query,
    })
    const { limit, offset } = query
    const head = JSON.stringify({ seq: head_seq, hash: hex(head_hash) })
    return new JsonText(
      `{"entries":[${entries.map(viewOf)}],"total":${total},"limit":${limit},"offset":${offset}` +
        `,"head":${head},"checkpoints":${checkpoints}}`,
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

export const listAuditCheckpoints = route('get', '/admin/audit/checkpoints', {
  summary:
    'List the signed checkpoints of the audit chain, newest first, and the keys that signed them',
  access: 'admin:audit:read',
  query: page,
  returns: z
    .object({
      checkpoints: z.array(CheckpointView),
      keys: z.array(KeyView),
      total: z.int(),
      limit: z.int(),
      offset: z.int(),
    })
    .meta({ id: 'AuditCheckpointList' }),
  async handle({ query }, { audit }: Deps) {
    const { checkpoints, keys, total } = await audit.listCheckpoints(query)
    return {
      checkpoints: checkpoints.map(checkpointView),
      keys: keys.map(keyView),
      total,
      ...query,
    }
  },
})

export const listAuditKeys = route('get', '/admin/audit/keys', {
  summary: 'List the public keys that verify checkpoints of the audit chain, as a JWK set',
  access: 'admin:audit:read',
  returns: z.object({ keys: z.array(KeyView) }).meta({ id: 'AuditKeySet' }),
  async handle(_, { audit }: Deps) {
    const { keys } = await audit.listCheckpoints({ limit: 1, offset: 0 })
    return { keys: keys.map(keyView) }
  },
})
