import { ArgumentError } from '@windlass/api-client/errors'
import { path, toSecretName } from '@windlass/api-client/path'
import { AuditChainVerifier, type Head } from '@windlass/domain/audit'
import { formatHead, parseHead, verifyPages } from '@windlass/domain/audit-pages'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { selectMembers } from './shared.ts'

export const getSecretUses = defineTool({
  name: 'get_secret_uses',
  title: 'Get uses of secret',
  description: 'Show which workflows declare a secret, and its last uses by workers.',
  args: { secret_name: z.string().describe('Name of the secret') },
  request: ({ secret_name }) => ({
    method: 'GET',
    path: path`/admin/secrets/${toSecretName(secret_name)}/uses`,
  }),
  ...selectMembers({
    ...{ workflows: z.array(z.unknown()), others: z.int() },
    last_uses: z.array(z.unknown()).nullable(),
  }),
  doing: 'reading uses of secret',
  effect: 'reads',
})

const HEAD_ROUTE = { method: 'GET', path: path`/admin/audit/head` } as const

export const verifyAuditLog = defineTool({
  name: 'verify_audit_log',
  title: 'Verify audit log',
  description:
    'Read the whole audit log and compute the hash of each entry: finds changed and missing entries. The head that it returns, noted elsewhere, proves every entry up to it.',
  args: {
    head: z.string().optional().describe('A head that was noted earlier, as SEQ:HASH'),
  },
  request: () => HEAD_ROUTE,
  async collect(send, { head }) {
    const check = new AuditChainVerifier(head === undefined ? undefined : requireHead(head))
    await verifyPages(send, check)
    const { problems } = check
    return JSON.stringify({
      ...{ whole: problems.length === 0, entries: check.head.seq, head: formatHead(check.head) },
      ...{ problems },
    })
  },
  ...selectMembers({
    ...{ whole: z.boolean(), entries: z.int(), head: z.string(), problems: z.array(z.string()) },
  }),
  doing: 'verifying audit log',
  waits: true,
  effect: 'reads',
})

function requireHead(text: string): Head {
  const head = parseHead(text)
  if (head) return head
  throw new ArgumentError('head must be SEQ:HASH, as an earlier verification returned it')
}
