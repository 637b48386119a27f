import { expect, test } from 'vitest'
import { principalsFixture, robot } from './principals-fixture.ts'

test('built-in roles: grant the permissions of the contract and cannot be changed', async () => {
  const { roles } = await principalsFixture()
  const all = new Map((await roles.list({})).roles.map((role) => [role.name, role]))
  expect([...all.keys()].sort()).toEqual(['admin', 'operator', 'viewer', 'worker'])
  expect(all.get('admin')?.permissions).toEqual(['*'])
  expect(all.get('worker')?.permissions).toEqual(['worker:*:*'])
  for (const name of ['operator', 'viewer'])
    expect(all.get(name)?.permissions.join()).not.toMatch(/(^|,)\*(,|$)|secret|admin/)
  for (const name of all.keys()) {
    const change = { name, add_permissions: ['a'], remove_permissions: [] }
    await expect(roles.update(change)).rejects.toMatchObject({ kind: 'invalid' })
    await expect(roles.delete({ name })).rejects.toMatchObject({ kind: 'invalid' })
    const made = { name, permissions: [] }
    await expect(roles.create(made)).rejects.toMatchObject({ kind: 'conflict' })
  }
})

test('clone: later changes do not affect the original role', async () => {
  const { roles } = await principalsFixture()
  const clone = await roles.clone({ name: 'worker', new_name: 'copy' })
  expect(clone).toMatchObject({ name: 'copy', permissions: ['worker:*:*'], built_in: false })
  await roles.update({ name: 'copy', add_permissions: ['a:b', 'c'], remove_permissions: ['c'] })
  expect((await roles.get({ name: 'copy' })).permissions).toEqual(['worker:*:*', 'a:b'])
  expect((await roles.get({ name: 'worker' })).permissions).toEqual(['worker:*:*'])
  const again = { name: 'worker', new_name: 'copy' }
  await expect(roles.clone(again)).rejects.toMatchObject({ kind: 'conflict' })
})

test('simulate: returns the result of a change and changes nothing', async () => {
  const { principals, roles, make } = await principalsFixture()
  await roles.create({ name: 'temp', permissions: ['a', 'b'] })
  const ann = await make({ subject: 'ann', roles: ['temp'] })
  const bob = await make({ subject: 'bob', roles: ['temp', 'worker'] })
  await make({ subject: 'cid', roles: ['worker'] })
  const change = { name: 'temp', add_permissions: ['c'], remove_permissions: ['a'], delete: false }
  const role = { name: 'temp', permissions: ['a', 'b'], built_in: false }
  expect(await roles.simulate(change)).toMatchObject({
    role,
    permissions: ['b', 'c'],
    holders: [
      { principal: ann, other_permissions: [] },
      { principal: bob, other_permissions: ['worker:*:*'] },
    ],
  })
  const gone = { ...change, add_permissions: [], remove_permissions: [], delete: true }
  expect((await roles.simulate(gone)).permissions).toEqual([])
  expect(await roles.get({ name: 'temp' })).toMatchObject(role)
  expect((await principals.get({ ...robot, subject: 'bob' })).roles).toEqual(['temp', 'worker'])

  for (const wrong of [{ name: 'none' }, { name: 'viewer' }, { add_permissions: ['a b'] }])
    await expect(roles.simulate({ ...change, ...wrong })).rejects.toMatchObject({ kind: 'invalid' })
})

test('deleted role: a new role of the same name has no holders', async () => {
  const { principals, roles, make } = await principalsFixture()
  await roles.create({ name: 'temp', permissions: ['a'] })
  await make({ roles: ['temp'] })
  await roles.delete({ name: 'temp' })
  await roles.create({ name: 'temp', permissions: ['*'] })
  expect((await principals.get(robot)).roles).toEqual([])
})
