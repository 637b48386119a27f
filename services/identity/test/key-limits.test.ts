import { createHash } from 'node:crypto'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'
import { robot } from './principals-fixture.ts'

const NETWORKS = ['10.0.0.0/8', '2001:db8::/32']

/** Identity with the account `robot`, which may run workflows and read roles. */
async function setup(env: Record<string, string> = {}) {
  const { db, replica } = await startIdentity()
  const { keys, roles, principals } = await replica(env)
  await roles.create({ name: 'r', permissions: ['workflow:*:*:run', 'admin:roles:read'] })
  const account = { ...robot, type: 'service_account', display_name: undefined }
  await principals.create({ ...account, roles: ['r'] })
  const create = async (given: { days?: number; limits?: object } = {}, name = 'ci') => {
    const { days: expires_in_days = 0, limits } = given
    const none = { permissions: [], networks: [] }
    const request = { principal: robot, name, expires_in_days }
    return keys.create({ ...request, ...(limits && { limits: { ...none, ...limits } }) })
  }
  const find = (key: string, checks_networks?: boolean) =>
    keys.find({
      prefix: key.split('.')[0] ?? '',
      token_hash: createHash('sha256').update(key).digest(),
      ...(checks_networks !== undefined && { checks_networks }),
    })
  return { db, keys, roles, create, find }
}

const DAY_MS = 86_400_000
const daysFromNow = (at: Date | undefined) => ((at?.getTime() ?? 0) - Date.now()) / DAY_MS

test('a key with permissions: has those of its account that they cover, even after a change', async () => {
  const { roles, create, find, keys } = await setup()
  const limits = { permissions: ['workflow:team:*', 'admin:*'] }
  const { key } = await create({ limits })
  const permissionsOf = async () => (await find(key)).account?.permissions.toSorted()
  expect(await permissionsOf()).toEqual(['admin:roles:read', 'workflow:team:*:run'])
  await roles.update({ name: 'r', add_permissions: ['*'], remove_permissions: [] })
  expect(await permissionsOf()).toEqual([
    'admin:*',
    'admin:roles:read',
    'workflow:team:*',
    'workflow:team:*:run',
  ])
  await roles.update({
    name: 'r',
    add_permissions: [],
    remove_permissions: ['*', 'admin:roles:read'],
  })
  expect(await permissionsOf()).toEqual(['workflow:team:*:run'])
  expect((await keys.list(robot)).keys).toMatchObject([{ limits: { ...limits, networks: [] } }])
})

test('a key with networks: refused to a gateway that does not check them', async () => {
  const { create, find } = await setup()
  const { key } = await create({ limits: { networks: NETWORKS } })
  await expect(find(key)).rejects.toMatchObject({ kind: 'unauthenticated' })
  await expect(find(key, false)).rejects.toMatchObject({ kind: 'unauthenticated' })
  expect(await find(key, true)).toMatchObject({ limits: { networks: NETWORKS } })
  const { key: free } = await create({}, 'free')
  expect((await find(free)).limits).toBeUndefined()
})

test('lifetimes: the default applies, and a longer one than the maximum is refused', async () => {
  const { create, find } = await setup({
    SVC_SECURITY__AUTH__API_KEYS__DEFAULT_LIFETIME_DAYS: '30',
    SVC_SECURITY__AUTH__API_KEYS__MAX_LIFETIME_DAYS: '90',
  })
  const { key } = await create()
  expect(daysFromNow((await find(key)).expires_at)).toBeCloseTo(30, 1)
  const { key: long } = await create({ days: 90 }, 'long')
  expect(daysFromNow((await find(long)).expires_at)).toBeCloseTo(90, 1)
  await expect(create({ days: 91 }, 'longer')).rejects.toMatchObject({ kind: 'unprocessable' })
})

test('key of before the maximum was set: expires when it is as old', async () => {
  const { db, create, find, keys } = await setup({
    SVC_SECURITY__AUTH__API_KEYS__MAX_LIFETIME_DAYS: '90',
  })
  const { key } = await create()
  await db.run(sql`
    update api_keys set expires_at = null, created_at = now() - interval '100 days'`)
  expect(daysFromNow((await find(key)).expires_at)).toBeCloseTo(-10, 1)
  const [listed] = (await keys.list(robot)).keys
  expect(daysFromNow(listed?.expires_at)).toBeCloseTo(-10, 1)
})

test.each([
  ['malformed permissions', { permissions: ['a b'] }, 'invalid'],
  ['malformed networks', { networks: ['10.0.0.0/33'] }, 'unprocessable'],
  ['too many networks', { networks: Array.from({ length: 21 }, () => '::1') }, 'unprocessable'],
])('a key with %s: refused', async (_, limits, kind) => {
  const { create } = await setup()
  await expect(create({ limits })).rejects.toMatchObject({ kind })
})

test('N035: two keys with one prefix: the second is refused, the first works until it is revoked', async () => {
  const { db, keys, create, find } = await setup()
  const { key } = await create()
  await create({}, 'other')
  const prefix = key.split('.')[0] ?? ''
  const collide = db.run(sql`
    update api_keys set prefix = ${prefix} where name = 'other'`)
  await expect(collide).rejects.toMatchObject({ code: '23505' })
  expect((await find(key)).account).toBeDefined()
  await keys.revoke({ principal: robot, name: 'ci' })
  await expect(find(key)).rejects.toMatchObject({ kind: 'unauthenticated' })
})
