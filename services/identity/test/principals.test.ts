import { readGeneration } from '@windlass/runtime/cache-generation'
import { sql } from '@windlass/runtime/postgres/sql'
import { dumpDatabase } from '@windlass/testkit/database'
import { expect, test } from 'vitest'
import { createAdminKey } from '../src/engine/admin-key.ts'
import { grant, principalsFixture, robot } from './principals-fixture.ts'

test('subjects that differ by their bytes only: two at an issuer, one among local accounts', async () => {
  const { principals, make } = await principalsFixture()
  const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301']
  const idp = { external_issuer: 'https://idp/', type: 'user' }
  await make({ ...idp, subject: composed, roles: ['admin'] })
  await expect(
    principals.resolve({ subject: decomposed, external_issuer: 'https://idp/' }),
  ).rejects.toMatchObject({ kind: 'not_found' })
  await make({ ...idp, subject: decomposed })
  const { permissions } = await principals.resolve({ ...idp, subject: decomposed })
  expect(permissions).toEqual([])

  await make({ subject: composed })
  await expect(make({ subject: decomposed })).rejects.toMatchObject({ kind: 'conflict' })
})

test('same subject at two issuers: two principals', async () => {
  const { principals, make } = await principalsFixture()
  const a = await make({ display_name: 'Robot', roles: ['worker', 'viewer', 'worker'] })
  expect(a).toMatchObject({ ...robot, enabled: true, roles: ['viewer', 'worker'] })
  const b = await make({ type: 'user', external_issuer: 'https://idp/' })
  await expect(make()).rejects.toMatchObject({ kind: 'conflict' })

  expect(await principals.get(robot)).toEqual(a)
  expect(await principals.get({ ...robot, external_issuer: 'https://idp/' })).toEqual(b)
  expect(await principals.list({ type: '' })).toEqual({ principals: [b, a] })
  expect(await principals.list({ type: 'user' })).toEqual({ principals: [b] })
  await expect(principals.get({ ...robot, subject: 'Robot' })).rejects.toMatchObject({
    kind: 'not_found',
  })
})

test('refused creation: stores nothing', async () => {
  const { principals, make } = await principalsFixture()
  await expect(make({ roles: ['viewer', 'nope'] })).rejects.toMatchObject({ kind: 'not_found' })
  await expect(make({ type: 'robot' })).rejects.toMatchObject({ kind: 'unprocessable' })
  await expect(make({ subject: 'a\nb' })).rejects.toMatchObject({ kind: 'unprocessable' })
  expect(await principals.list({ type: '' })).toEqual({ principals: [] })
})

test('update: changes the given members and keeps the others', async () => {
  const { principals, make } = await principalsFixture()
  await make({ display_name: 'Robot', roles: ['viewer'] })
  await principals.update({ principal: robot, display_name: undefined, enabled: false })
  const changed = { principal: robot, display_name: 'R2', enabled: undefined }
  expect(await principals.update(changed)).toMatchObject({
    display_name: 'R2',
    enabled: false,
    roles: ['viewer'],
  })
})

test('grant: requires an existing role; revoke: succeeds without the grant', async () => {
  const { principals, make } = await principalsFixture()
  await make()
  for (const _ of [1, 2]) await principals.grantRole(grant('viewer'))
  await expect(principals.grantRole(grant('nope'))).rejects.toMatchObject({ kind: 'not_found' })
  expect((await principals.get(robot)).roles).toEqual(['viewer'])
  for (const _ of [1, 2]) await principals.revokeRole(grant('viewer'))
  expect((await principals.get(robot)).roles).toEqual([])
})

test('key: resolves to its account with all permissions of its roles', async () => {
  const { keys, make, find } = await principalsFixture()
  const principal = await make({ roles: ['worker', 'admin'] })
  const { key } = await keys.create({ principal: robot, name: 'ci', expires_in_days: 1 })
  expect(key).toMatch(/^wk_[0-9a-f]{16}\.[A-Za-z0-9_-]{43}$/)

  const { account, expires_at } = await find(key)
  expect(account).toEqual({ principal, permissions: ['*', 'worker:*:*'] })
  expect(Number(expires_at) - Date.now()).toBeCloseTo(86_400_000, -5)
})

test('last use of a key: updated by a valid use only', async () => {
  const { keys, principals, make, find, db } = await principalsFixture()
  await make()
  const { key } = await keys.create({ principal: robot, name: 'ci', expires_in_days: 1 })
  const lastUse = async () => (await keys.list(robot)).keys[0]?.last_used_at
  const clearLastUse = () => db.run(sql`update api_keys set last_used_at = null`)
  expect(await lastUse()).toBeUndefined()
  await expect(find(`${key.slice(0, -1)}!`)).rejects.toMatchObject({ kind: 'unauthenticated' })
  expect(await lastUse()).toBeUndefined()
  await find(key)
  expect(await lastUse()).toBeInstanceOf(Date)

  await clearLastUse()
  await principals.update({ principal: robot, display_name: undefined, enabled: false })
  await find(key)
  await principals.update({ principal: robot, display_name: undefined, enabled: true })
  await db.run(sql`update api_keys set expires_at = now() - interval '1 s'`)
  await find(key)
  expect(await lastUse()).toBeUndefined()
})

test('repeated use of a key: last_used_at is written once in 5 s', async () => {
  const { keys, make, find, db } = await principalsFixture()
  await make()
  const { key } = await keys.create({ principal: robot, name: 'ci', expires_in_days: 0 })
  const lastUse = async () => (await keys.list(robot)).keys[0]?.last_used_at
  await find(key)
  const first = await lastUse()
  await find(key)
  expect(await lastUse()).toEqual(first)

  await db.run(sql`update api_keys set last_used_at = now() - interval '1 minute'`)
  await find(key)
  expect(Number(await lastUse())).toBeGreaterThanOrEqual(Number(first))
})

test('unknown or altered key: refused', async () => {
  const { keys, make, find } = await principalsFixture()
  await make()
  const made = async (name: string) =>
    (await keys.create({ principal: robot, name, expires_in_days: 0 })).key.split('.')
  const [[a, secretA], [b, secretB]] = [await made('a'), await made('b')]
  expect((await find(`${a}.${secretA}`)).expires_at).toBeUndefined()
  for (const other of [`${a}.${secretB}`, `${b}.${secretA}`, `${a}.`, '', 'x.y'])
    await expect(find(other), other).rejects.toMatchObject({ kind: 'unauthenticated' })
  const short = { prefix: a ?? '', token_hash: Buffer.alloc(0) }
  await expect(keys.find(short)).rejects.toMatchObject({ kind: 'unauthenticated' })
})

test('key: requires a service account and a name that is unique for it', async () => {
  const { keys, make } = await principalsFixture()
  await make()
  const user = { subject: 'ann', external_issuer: 'svc' }
  await make({ subject: 'ann', type: 'user' })
  const ask = { principal: robot, name: 'k', expires_in_days: 0 }
  await keys.create(ask)
  await expect(keys.create(ask)).rejects.toMatchObject({ kind: 'invalid' })
  await expect(keys.create({ ...ask, principal: user })).rejects.toMatchObject({ kind: 'invalid' })
  const absent = { ...user, subject: 'nobody' }
  await expect(keys.create({ ...ask, principal: absent })).rejects.toMatchObject({
    kind: 'not_found',
  })
  expect((await keys.list(robot)).keys.map(({ name }) => name)).toEqual(['k'])
})

test('stored key: prefix and hash only', async () => {
  const { database, keys, make } = await principalsFixture()
  await make()
  const { key } = await keys.create({ principal: robot, name: 'k', expires_in_days: 0 })
  const [prefix = '', secret = ''] = key.split('.')
  const contents = await dumpDatabase(database)
  expect(contents).toContain(prefix)
  expect(contents).not.toContain(secret)
})

test('deletion of a principal with keys: requires force and deletes its keys', async () => {
  const { principals, keys, make, find } = await principalsFixture()
  await make()
  const { key } = await keys.create({ principal: robot, name: 'k', expires_in_days: 0 })
  const ask = { principal: robot, force: false }
  await expect(principals.delete(ask)).rejects.toMatchObject({ kind: 'conflict' })
  await principals.delete({ ...ask, force: true })
  await expect(find(key)).rejects.toMatchObject({ kind: 'unauthenticated' })
  await make()
  expect((await keys.list(robot)).keys).toEqual([])
})

test('each change of rights: replaces the cache generation before it returns', async () => {
  const { redis, principals, keys, roles, make } = await principalsFixture()
  await make()
  await roles.create({ name: 'temp', permissions: ['a'] })
  await keys.create({ principal: robot, name: 'k', expires_in_days: 0 })
  const changes: Record<string, () => Promise<unknown>> = {
    grant: () => principals.grantRole(grant('temp')),
    revoke: () => principals.revokeRole(grant('temp')),
    disable: () => principals.update({ principal: robot, display_name: undefined, enabled: false }),
    'change a role': () =>
      roles.update({ name: 'temp', add_permissions: ['b'], remove_permissions: [] }),
    'delete a role': () => roles.delete({ name: 'temp' }),
    'revoke a key': () => keys.revoke({ principal: robot, name: 'k' }),
    'delete a principal': () => principals.delete({ principal: robot, force: true }),
  }
  for (const [what, change] of Object.entries(changes)) {
    const before = await readGeneration(redis, 'auth')
    await change()
    expect(await readGeneration(redis, 'auth'), what).not.toBe(before)
  }
})

test('admin key: needs only the database', async () => {
  const { db, principals, find } = await principalsFixture()
  const key = await createAdminKey(db, { subject: 'admin', name: 'first', days: 0 })
  expect((await find(key)).account).toMatchObject({
    principal: { subject: 'admin', type: 'service_account', roles: ['admin'] },
    permissions: ['*'],
  })
  const second = await createAdminKey(db, { subject: 'admin', name: 'second', days: 1 })
  expect((await find(second)).account).toEqual((await find(key)).account)
  expect((await principals.list({ type: '' })).principals).toHaveLength(1)
})

test('admin key of a user: refused', async () => {
  const { db, principals, make } = await principalsFixture()
  await make({ type: 'user' })
  const ask = { subject: 'robot', name: 'k', days: 0 }
  await expect(createAdminKey(db, ask)).rejects.toMatchObject({ kind: 'conflict' })
  expect((await principals.get(robot)).roles).toEqual([])
})
