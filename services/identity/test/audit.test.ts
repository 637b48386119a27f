import type { ListAuditRequest } from '@windlass/proto/windlass/identity/v1/audit'
import { newId } from '@windlass/runtime/ids'
import { expect, test } from 'vitest'
import { makeAdminKey } from '../src/admin-key.ts'
import { by, draft, problems, robot, setup } from './audit-log.ts'

test('each change leaves one entry that says who, what and to whom, and no secret', async () => {
  const all = await setup()
  const { principals, keys, roles, secrets, configs, identity, list } = all
  const named = { principal: robot, by }
  await roles.create({ name: 'r', permissions: ['a:b'], by })
  await roles.clone({ name: 'r', new_name: 's', by })
  await roles.update({ name: 'r', add_permissions: ['c'], remove_permissions: ['a:b'], by })
  await principals.create({
    ...{ ...robot, type: 'service_account', display_name: undefined, created_by: 'ann' },
    roles: ['viewer'],
    by,
  })
  await principals.update({ ...named, display_name: 'R2', enabled: false })
  await principals.grantRole({ ...named, role: 'r', granted_by: 'ann' })
  await principals.revokeRole({ ...named, role: 'r', granted_by: 'ann' })
  const { key } = await keys.create({ ...named, name: 'ci', expires_in_days: 0 })
  const [prefix = '', secret = ''] = key.split('.')
  await keys.revoke({ ...named, name: 'ci' })
  await principals.delete({ ...named, force: true })
  await roles.delete({ name: 's', by })
  await secrets.put({ entry: { name: 'db', value_json: '"canary"' }, by })
  await secrets.delete({ name: 'db', by })
  await configs.put({ entry: { name: 'limit', value_json: '"canary"' }, by })
  await configs.delete({ name: 'limit', by })
  const session_id = newId()
  const { token } = await identity.issueSession({ worker_name: 'w1', session_id, by })

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
    ['secret.put', 'secret:db', { key_id: expect.stringMatching(/^[0-9a-f]{16}$/) }],
    ['secret.delete', 'secret:db', { was_there: true }],
    ['config.put', 'config:limit', {}],
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
  expect(await problems(all)).toEqual([])
})

test('what is refused changes nothing and leaves no entry', async () => {
  const { principals, keys, roles, secrets, list } = await setup()
  const refused = [
    () => roles.create({ name: 'admin', permissions: [], by }),
    () => roles.update({ name: 'admin', add_permissions: ['a'], remove_permissions: [], by }),
    () => roles.delete({ name: 'none', by }),
    () => principals.delete({ principal: robot, force: true, by }),
    () => keys.create({ principal: robot, name: 'k', expires_in_days: 0, by }),
    () => secrets.put({ entry: { name: 'a', value_json: 'null' }, by }),
  ]
  for (const call of refused) await expect(call()).rejects.toBeInstanceOf(Error)
  expect(await list()).toMatchObject({ entries: [], total: 0, head_seq: 0 })
})

test('the first administrator, and who comes by himself, are recorded too', async () => {
  const { db, principals, list } = await setup()
  await makeAdminKey(db, { subject: 'root', name: 'first', days: 0 })
  await principals.provision({
    principal: { subject: 'bob', external_issuer: 'https://idp/' },
    display_name: undefined,
    roles: ['viewer'],
    metadata_json: '{}',
  })
  const { entries } = await list()
  expect(entries.map(({ draft }) => [draft?.by?.subject, draft?.action, draft?.object])).toEqual([
    ['windlass admin create-key', 'principal.create', 'principal:svc/root'],
    ['windlass admin create-key', 'key.create', 'key:svc/root/first'],
    ['bob', 'principal.create', 'principal:https://idp//bob'],
  ])
})

test('replicas that append at once make one chain without gaps', async () => {
  const all = await setup()
  const other = await all.replica()
  const replicas = [all, other]
  const writes = Array.from({ length: 60 }, (_, i) => {
    const { audit, configs } = replicas[i % 2] ?? all
    return i % 3 === 0
      ? configs.put({ entry: { name: `c${i}`, value_json: '1' }, by })
      : audit.record({ drafts: [draft({ object: `a${i}` }), draft({ object: `b${i}` })] })
  })
  await Promise.all(writes)
  const { total, head_seq, entries } = await all.list()
  expect([total, head_seq]).toEqual([100, 100])
  expect(new Set(entries.map(({ draft }) => draft?.object)).size).toBe(100)
  expect(await problems(all, 7)).toEqual([])
})

test('entries are found by what they say, newest first or from a number on', async () => {
  const { audit, list } = await setup()
  const { seqs } = await audit.record({
    drafts: [
      draft({ action: 'schedule.pause', object: 'schedule:a' }),
      draft({ action: 'schedule.resume', object: 'schedule:a', outcome: 'denied' }),
      draft({ by: { ...by, subject: 'bob' } }),
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
  expect(await found({ action: 'schedul' })).toEqual([])
  expect(await found({ object: 'schedule:a', outcome: 'denied' })).toEqual([2])
  const { entries } = await list({})
  const at = entries[0]?.at as Date
  expect(await found({ since: at })).toEqual([3, 2, 1])
  expect(await found({ until: at })).toEqual([])
  expect(await found({ since: new Date(Number(at) + 1) })).toEqual([])
  await expect(list({ limit: 0 })).rejects.toMatchObject({ kind: 'invalid' })
  await expect(list({ limit: 1_001 })).rejects.toMatchObject({ kind: 'invalid' })
})

test('an entry without an actor, or in words that nobody knows, is refused with its batch', async () => {
  const { audit, list } = await setup()
  const wrong = [{ by: undefined }, { action: 'role.eat' }, { outcome: 'perhaps' }]
  for (const changes of wrong)
    await expect(audit.record({ drafts: [draft(), draft(changes)] })).rejects.toMatchObject({
      kind: 'invalid',
    })
  expect((await list()).total).toBe(0)
})
