import type { ListAuditRequest } from '@windlass/proto/windlass/identity/v1/audit'
import { expect, test } from 'vitest'
import { startGateway, workflow } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
const DETAIL = '{"execution_id":"e","worker":"w", "workflow":"team/order"}'

async function setup(permissions: string[]) {
  const lists: ListAuditRequest[] = []
  const declaring = (namespace: string, name: string, secrets: string[]) =>
    workflow({ namespace, name, metadata_json: JSON.stringify({ secret_requests: secrets }) })
  const by = { subject: 'ann', issuer: 'svc', key_prefix: '', request_id: 'r' }
  const draft = {
    ...{ by, action: 'secret.use', object: 'secret:db', outcome: 'done', detail_json: DETAIL },
  }
  const hash = Buffer.alloc(32)
  const entry = { seq: 3, at: new Date(0), draft, previous_hash: hash, hash }
  const { call } = await startGateway(
    {
      keys: {
        find: async () => ({
          account: { principal: serviceAccount(), permissions },
          expires_at: undefined,
        }),
      },
      catalog: {
        list: async () => ({
          workflows: [
            declaring('team', 'order', ['db', 'mail']),
            declaring('team', 'report', ['mail']),
            declaring('other', 'hidden', ['db']),
            workflow({ namespace: 'team', name: 'none', metadata_json: '{}' }),
          ],
        }),
      },
      audit: {
        async list(request) {
          lists.push(request)
          return { entries: [entry], total: 1, head_seq: 3, head_hash: hash, checkpoints: 0 }
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const uses = await call('GET', '/admin/secrets/db/uses', {
    headers: { authorization: `Bearer ${KEY}` },
  })
  return { status: uses.status, text: await uses.text(), lists }
}

test('uses of a secret: workflows that declare it and that the caller may read, and audit entries', async () => {
  const rights = ['admin:secrets:read', 'admin:audit:read', 'workflow:team:*:read']
  const { text, lists } = await setup(rights)
  expect(JSON.parse(text)).toMatchObject({
    workflows: [{ namespace: 'team', name: 'order', version: 1 }],
    others: 1,
    last_uses: [{ seq: 3, action: 'secret.use', actor: { subject: 'ann' } }],
  })
  // The detail is as it was hashed.
  expect(text).toContain(`"detail":${DETAIL}`)
  expect(text).not.toContain('hidden')
  expect(lists).toMatchObject([{ object: 'secret:db', action: 'secret.use' }])
})

test('uses of a secret without permission to read the audit log: only the workflows', async () => {
  const { text, lists } = await setup(['admin:secrets:read'])
  expect(JSON.parse(text)).toEqual({ workflows: [], others: 2, last_uses: null })
  expect(lists).toEqual([])
})

test('uses of a secret without permission to read secrets: 403', async () => {
  expect((await setup(['admin:audit:read', 'workflow:*'])).status).toBe(403)
})
