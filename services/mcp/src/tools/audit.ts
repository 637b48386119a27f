import { ArgumentError } from '@windlass/api-client/errors'
import { path, toSecretName } from '@windlass/api-client/path'
import { AuditChainVerifier, type Head } from '@windlass/domain/audit'
import { formatHead, parseHead, verifyLog } from '@windlass/domain/audit-pages'
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
    'Read the whole audit log, compute the hash of each entry and verify the signed checkpoints: finds changed and missing entries. The head that it returns, noted elsewhere, proves every entry up to it.',
  args: {
    head: z.string().optional().describe('A head that was noted earlier, as SEQ:HASH'),
    key: z
      .string()
      .optional()
      .describe('Id of the key that signs checkpoints, noted earlier; several with commas'),
  },
  request: () => HEAD_ROUTE,
  async collect(send, { head, key }) {
    const remembered = head === undefined ? undefined : requireHead(head)
    const { check, signed, problems } = await verifyLog(send, {
      noted: key?.split(','),
      start: async (checkpoints) => new AuditChainVerifier(remembered, undefined, checkpoints),
    })
    return JSON.stringify({
      ...{ whole: problems.length === 0, entries: check.head.seq, head: formatHead(check.head) },
      ...{ problems, notes: check.notes },
      ...{ checkpoints: signed.checkpoints.length, keys: signed.kids },
    })
  },
  ...selectMembers({
    ...{ whole: z.boolean(), entries: z.int(), head: z.string(), problems: z.array(z.string()) },
    ...{ notes: z.array(z.string()), checkpoints: z.int(), keys: z.array(z.string()) },
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
