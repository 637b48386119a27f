import type { AuditRecord, ListAuditRequest } from '@windlass/proto/windlass/identity/v1/audit'
import { newId } from '@windlass/runtime/ids'
import { signedCaller } from '@windlass/testkit/service-identity'
import { expect, test } from 'vitest'
import { createAdminKey } from '../src/engine/admin-key.ts'
import {
  ann,
  auditFixture,
  by,
  entry,
  findChainProblems,
  robot,
  signedAuditCaller,
} from './audit-fixture.ts'

test('each change: adds one entry with caller, action and object, and without a secret', async () => {
  const all = await auditFixture()
  const { principals, keys, roles, secrets, configs, identity, list } = all
  const named = { principal: robot }
  await roles.create({ name: 'r', permissions: ['a:b'] })
  await roles.clone({ name: 'r', new_name: 's' })
  await roles.update({ name: 'r', add_permissions: ['c'], remove_permissions: ['a:b'] })
  await principals.create({
    ...{ ...robot, type: 'service_account', display_name: undefined },
    roles: ['viewer'],
  })
  await principals.update({ ...named, display_name: 'R2', enabled: false })
  await principals.grantRole({ ...named, role: 'r' })
  await principals.revokeRole({ ...named, role: 'r' })
  const { key } = await keys.create({ ...named, name: 'ci', expires_in_days: 0 })
  const [prefix = '', secret = ''] = key.split('.')
  await keys.revoke({ ...named, name: 'ci' })
  await principals.delete({ ...named, force: true })
  await roles.delete({ name: 's' })
  await secrets.put({ entry: { name: 'db', value_json: '"canary"' } })
  await secrets.delete({ name: 'db' })
  await configs.put({ entry: { name: 'limit', value_json: '"canary"' } })
  await configs.delete({ name: 'limit' })
  const session_id = newId()
  const { token } = await identity.issueSession({ worker_name: 'w1', session_id })

  const unrestricted = { namespaces: null, workflows: null }
  const { entries, total, head_seq } = await list()
  expect([total, head_seq]).toEqual([16, 16])
  expect(
    entries.map(({ draft }) => [
      draft?.action,
      draft?.object,
      JSON.parse(draft?.detail_json ?? ''),
    ]),
  ).toEqual([
    ['role.create', 'role:r', { permissions: ['a:b'] }],
    ['role.create', 'role:s', { permissions: ['a:b'] }],
    ['role.update', 'role:r', { before: ['a:b'], after: ['c'] }],
    ['principal.create', 'principal:svc/robot', { type: 'service_account', roles: ['viewer'] }],
    ['principal.update', 'principal:svc/robot', { display_name: 'R2', enabled: false }],
    ['principal.grant_role', 'principal:svc/robot', { role: 'r' }],
    ['principal.revoke_role', 'principal:svc/robot', { role: 'r' }],
    ['key.create', 'key:svc/robot/ci', { prefix }],
    ['key.revoke', 'key:svc/robot/ci', {}],
    ['principal.delete', 'principal:svc/robot', { force: true, keys: [] }],
    ['role.delete', 'role:s', { permissions: ['a:b'] }],
    [
      'secret.put',
      'secret:db',
      { key_id: expect.stringMatching(/^[0-9a-f]{16}$/), version: 1, ...unrestricted },
    ],
    ['secret.delete', 'secret:db', { was_there: true }],
    ['config.put', 'config:limit', unrestricted],
    ['config.delete', 'config:limit', { was_there: true }],
    [
      'worker.register',
      'worker:w1',
      { session_id, prefix: token.split('.')[0], ended_sessions: 0 },
    ],
  ])
  for (const { draft } of entries) expect(draft).toMatchObject({ by, outcome: 'done' })
  const text = JSON.stringify(entries)
  for (const hidden of ['canary', secret, token.split('.')[1] ?? ''])
    expect(text).not.toContain(hidden)
  expect(await findChainProblems(all)).toEqual([])
})

test('client address of a change: in the detail of its entry', async () => {
  const { roles, list } = await auditFixture()
  await roles.create(
    { name: 'r', permissions: ['a:b'] },
    { clientAddress: '192.0.2.7', caller: ann },
  )
  const [recorded] = (await list()).entries
  expect(JSON.parse(recorded?.draft?.detail_json ?? '')).toMatchObject({
    client_address: '192.0.2.7',
    permissions: ['a:b'],
  })
})

test('refused change: adds no entry', async () => {
  const { principals, keys, roles, secrets, list } = await auditFixture()
  const refused = [
    () => roles.create({ name: 'admin', permissions: [] }),
    () => roles.update({ name: 'admin', add_permissions: ['a'], remove_permissions: [] }),
    () => roles.delete({ name: 'none' }),
    () => principals.delete({ principal: robot, force: true }),
    () => keys.create({ principal: robot, name: 'k', expires_in_days: 0 }),
    () => secrets.put({ entry: { name: 'a', value_json: 'null' } }),
  ]
  for (const call of refused) await expect(call()).rejects.toBeInstanceOf(Error)
  expect(await list()).toMatchObject({ entries: [], total: 0, head_seq: 0 })
})

test('first administrator and provisioned principal: both are recorded', async () => {
  const { db, principals, list } = await auditFixture()
  await createAdminKey(db, { subject: 'root', name: 'first', days: 0 })
  await principals.provision(
    {
      principal: { subject: 'bob', external_issuer: 'https://idp/' },
      display_name: undefined,
      roles: ['viewer'],
      metadata_json: '{}',
    },
    { caller: { subject: 'bob', issuer: 'https://idp/' } },
  )
  const { entries } = await list()
  expect(entries.map(({ draft }) => [draft?.by?.subject, draft?.action, draft?.object])).toEqual([
    ['windlass admin create-key', 'principal.create', 'principal:svc/root'],
    ['windlass admin create-key', 'key.create', 'key:svc/root/first'],
    ['bob', 'principal.create', 'principal:https://idp//bob'],
  ])
})

test('concurrent appends by two replicas: one chain without gaps', async () => {
  const all = await auditFixture()
  const other = await all.replica()
  const replicas = [all, other]
  const writes = Array.from({ length: 60 }, (_, i) => {
    const { audit, configs } = replicas[i % 2] ?? all
    return i % 3 === 0
      ? configs.put({ entry: { name: `c${i}`, value_json: '1' } })
      : audit.record({ records: [entry({ object: `a${i}` }), entry({ object: `b${i}` })] })
  })
  await Promise.all(writes)
  const { total, head_seq, entries } = await all.list()
  expect([total, head_seq]).toEqual([100, 100])
  expect(new Set(entries.map(({ draft }) => draft?.object)).size).toBe(100)
  expect(await findChainProblems(all, 7)).toEqual([])
})

test('list: filters by each member; newest first, or ascending after a number', async () => {
  const { audit, list } = await auditFixture()
  const { seqs } = await audit.record({
    records: [
      entry({ action: 'schedule.pause', object: 'schedule:a' }),
      entry({ action: 'schedule.resume', object: 'schedule:a', outcome: 'denied' }),
      entry({ caller: signedAuditCaller({ ...ann, subject: 'bob' }) }),
    ],
  })
  expect(seqs).toEqual([1, 2, 3])
  const found = async (request: Partial<ListAuditRequest>) =>
    (await list({ after: undefined, ...request })).entries.map(({ seq }) => seq)
  expect(await found({})).toEqual([3, 2, 1])
  expect(await found({ limit: 1, offset: 1 })).toEqual([2])
  expect(await found({ after: 1 })).toEqual([2, 3])
  expect(await found({ actor: 'bob' })).toEqual([3])
  expect(await found({ action: 'schedule' })).toEqual([2, 1])
  expect(await found({ action: 'schedule.pause' })).toEqual([1])
  for (const action of ['schedul', '%', 's_hedule', '\\\\'])
    expect(await found({ action })).toEqual([])
  expect(await found({ object: 'schedule:a', outcome: 'denied' })).toEqual([2])
  const { entries } = await list({})
  const at = entries[0]?.at as Date
  expect(await found({ since: at })).toEqual([3, 2, 1])
  expect(await found({ until: at })).toEqual([])
  expect(await found({ since: new Date(Number(at) + 1) })).toEqual([])
  await expect(list({ limit: 0 })).rejects.toMatchObject({ kind: 'invalid' })
  await expect(list({ limit: 1_001 })).rejects.toMatchObject({ kind: 'invalid' })
})

test.each<[string, Partial<AuditRecord>, string]>([
  ['without an on-behalf-of token', { caller: '' }, 'forbidden'],
  ['with a name in place of the token', { caller: 'ann' }, 'forbidden'],
  ['with a token for another rpc', { caller: signedCaller(ann) }, 'forbidden'],
  ['with a token of another service', { caller: signedAuditCaller(ann, 'scheduler') }, 'forbidden'],
  ['with an unknown action', { action: 'role.eat' }, 'invalid'],
  ['with an unknown outcome', { outcome: 'perhaps' }, 'invalid'],
])('entry %s: its whole batch is refused', async (_, changes, kind) => {
  const { audit, list } = await auditFixture()
  const records = [entry(), entry(changes)]
  await expect(audit.record({ records })).rejects.toMatchObject({ kind })
  expect((await list()).total).toBe(0)
})
