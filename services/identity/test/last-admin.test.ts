import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { startIdentity } from './identity-fixture.ts'

async function setup() {
  const { db, replica } = await startIdentity()
  const { principals, roles } = await replica()
  const make = async (subject: string, role = 'admin') => {
    const made = { subject, external_issuer: 'svc' }
    await principals.create({ ...made, type: 'user', display_name: undefined, roles: [role] })
    return made
  }
  return { db, principals, roles, make }
}

const by = (subject: string) => ({ caller: { subject, issuer: 'svc' } })
const refused = {
  kind: 'conflict',
  message: 'The last administrator cannot be removed: make another principal administrator first',
}

test('N061: last administrator removes itself: 409; with another administrator: accepted', async () => {
  const { principals, make } = await setup()
  const ann = await make('ann')
  const turns = [
    () => principals.update({ principal: ann, enabled: false }, by('ann')),
    () => principals.delete({ principal: ann, force: true }, by('ann')),
    () => principals.revokeRole({ principal: ann, role: 'admin' }, by('ann')),
  ]
  for (const turn of turns) await expect(turn()).rejects.toMatchObject(refused)
  expect(await principals.resolve(ann)).toMatchObject({
    principal: { enabled: true, roles: ['admin'] },
  })
  await principals.revokeRole({ principal: ann, role: 'viewer' }, by('ann'))
  const bob = await make('bob')
  await principals.delete({ principal: ann, force: true }, by('ann'))
  expect(await principals.resolve(bob)).toMatchObject({ permissions: ['*'] })
})

test('N061: manager of principals and roles without the permission `*`: cannot remove the last administrator', async () => {
  const { principals, roles, make } = await setup()
  await roles.create({ name: 'all', permissions: ['*'] })
  const ann = await make('ann', 'all')
  await roles.create({ name: 'managers', permissions: ['admin:principals:*', 'admin:roles:*'] })
  await make('carol', 'managers')
  const less = { name: 'all', add_permissions: [], remove_permissions: ['*'] }
  const turns = [
    () => principals.update({ principal: ann, enabled: false }, by('carol')),
    () => principals.delete({ principal: ann, force: true }, by('carol')),
    () => principals.revokeRole({ principal: ann, role: 'all' }, by('carol')),
    () => roles.update(less, by('carol')),
    () => roles.delete({ name: 'all' }, by('carol')),
  ]
  for (const turn of turns) await expect(turn()).rejects.toMatchObject(refused)
  expect(await principals.resolve(ann)).toMatchObject({
    principal: { enabled: true },
    permissions: ['*'],
  })
})

test('N061: authentication is off, so that no administrator is needed: the last one can be removed', async () => {
  const { principals, make } = await setup()
  const ann = await make('ann')
  await principals.delete({ principal: ann, force: true }, by(''))
  expect(await principals.list({ type: '' })).toEqual({ principals: [] })
})

test('N061: last administrator removes the permission or the role: 409', async () => {
  const { principals, roles, make } = await setup()
  await roles.create({ name: 'all', permissions: ['*'] })
  const ann = await make('ann', 'all')
  const less = { name: 'all', add_permissions: ['a:b'], remove_permissions: ['*'] }
  await expect(roles.update(less, by('ann'))).rejects.toMatchObject(refused)
  await expect(roles.delete({ name: 'all' }, by('ann'))).rejects.toMatchObject(refused)
  expect(await principals.resolve(ann)).toMatchObject({ permissions: ['*'] })
  await make('bob')
  expect(await roles.update(less, by('ann'))).toMatchObject({ permissions: ['a:b'] })
})

test.each([
  ['themselves', ['ann', 'bob']],
  ['each other', ['bob', 'ann']],
])(
  'N061: last two administrators disable %s at once: one remains',
  async (_, [first = '', second = '']) => {
    const { db, principals, make } = await setup()
    const targets = [await make('ann'), await make('bob')]
    const waiting = async () =>
      (
        await db.maybe<{ count: number }>(sql`
        select count(*)::int as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`)
      )?.count
    // The lock on the head blocks both commits until both changes have been applied.
    const started = await db.tx(async (tx) => {
      await tx.run(sql`select from audit_head for update`)
      const both = targets.map((principal) =>
        principals.update(
          { principal, enabled: false },
          by(principal.subject === 'ann' ? first : second),
        ),
      )
      const ends = Promise.allSettled(both)
      await expect.poll(waiting).toBe(2)
      return { ends }
    })
    const ends = await started.ends
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: refused })
    const { principals: left } = await principals.list({ type: '' })
    expect(left.filter(({ enabled }) => enabled)).toHaveLength(1)
  },
)
