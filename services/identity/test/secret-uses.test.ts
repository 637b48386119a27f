import type { ListAuditRequest, Origin } from '@windlass/proto/windlass/identity/v1/audit'
import type { UseEntriesRequest } from '@windlass/proto/windlass/identity/v1/secrets'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

const KEY = { SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'correct horse battery staple' }
const ALL: ListAuditRequest = {
  ...{ actor: '', action: 'secret.use', object: '', outcome: '', since: undefined },
  ...{ until: undefined, limit: 1_000, offset: 0, after: 0 },
}
const STARTER = { caller: { subject: 'ann', issuer: 'https://issuer' }, requestId: 'r-1' }
const BY: Origin = {
  ...{ subject: 'ann', issuer: 'https://issuer', key_prefix: '', request_id: 'r-1' },
}

const use = (changes: Partial<UseEntriesRequest> = {}): UseEntriesRequest => ({
  ...{ names: ['a', 'b'], namespace: 'team', workflow: 'report', workflow_version: 3 },
  ...{ uploader: '', execution_id: 'e1', worker_name: 'w', client_address: '192.0.2.1' },
  ...changes,
})

/** An identity with the secret `a` of every namespace and `b` of another namespace. */
async function setup(env: Record<string, string> = {}) {
  const { db, replica } = await startIdentity()
  const { secrets, audit } = await replica({ ...KEY, ...env })
  await secrets.put({ entry: { name: 'a', value_json: '"canary"' } })
  const namespaces = { items: ['other'], all: false }
  await secrets.put({ entry: { name: 'b', value_json: '1', namespaces } })
  const uses = async () =>
    (await audit.list(ALL)).entries.map(({ draft }) => ({
      ...{ by: draft?.by, object: draft?.object, outcome: draft?.outcome },
      detail: JSON.parse(draft?.detail_json ?? ''),
    }))
  return { db, secrets, uses }
}

test('secrets for a worker: recorded with execution, worker, address and starter', async () => {
  const { secrets, uses } = await setup()
  await secrets.use(use(), STARTER)
  const detail = {
    ...{ execution_id: 'e1', worker: 'w', client_address: '192.0.2.1' },
    ...{ workflow: 'team/report', workflow_version: 3 },
  }
  const recorded = await uses()
  expect(recorded).toEqual([
    { by: BY, object: 'secret:b', outcome: 'denied', detail: { ...detail, reason: 'scope' } },
    { by: BY, object: 'secret:a', outcome: 'done', detail },
  ])
  expect(JSON.stringify(recorded)).not.toContain('canary')
})

test('the same use in a loop: recorded once; other executions and workers: each', async () => {
  const { secrets, uses } = await setup()
  const names = ['a']
  for (let i = 0; i < 50; i++) await secrets.use(use({ names }), STARTER)
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => secrets.use(use({ names, execution_id: `x${i}` }))),
  )
  await secrets.use(use({ names, worker_name: 'other' }))
  // A minute may have passed between two of the fifty.
  expect([22, 23]).toContain((await uses()).length)
})

test('a use that cannot be recorded: no value is answered', async () => {
  const { db, secrets } = await setup()
  await db.run(sql`alter table audit_head rename to hidden`)
  await expect(secrets.use(use({ names: ['a'] }), STARTER)).rejects.toThrow()
  await db.run(sql`alter table hidden rename to audit_head`)
  expect((await secrets.use(use({ names: ['a'] }), STARTER)).entries).toHaveLength(1)
})

test('level changes: uses are not recorded', async () => {
  const { secrets, uses } = await setup({ SVC_AUDIT__LEVEL: 'changes' })
  await secrets.use(use(), STARTER)
  expect(await uses()).toEqual([])
})
